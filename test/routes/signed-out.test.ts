import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import { hashKey } from '../../http/credentials.ts'
import { makeSeal } from '../../http/seal.ts'
import { build, form, orderXml } from '../build.ts'
import { hidden, line, post } from './form-post.ts'
import { cookieOf, fromHere, html, signIn } from './signing-in.ts'

const secret = 'one secret'
const typed = { ...line, 'order-number': 'PO-9', 'buyer.name': 'Acme plant', 'note.1': 'typed <at> length' }

/** Cookies of a person who is no longer signed in, by the reason. */
async function spentCookies({
  app,
  store,
  key
}: {
  app: FastifyInstance
  store: Store
  key: (name: string, scope: 'order') => Promise<{ authorization: string }>
}) {
  const revoked = cookieOf(await signIn(app, await key('Acme', 'order')))
  for (const { id } of await store.keys()) await store.revokeKey(id)
  const ended = 'tp_a-key-that-has-ended'
  await store.createKey({ customer: 'Acme', scopes: ['order'], hash: hashKey(ended), expiresAt: Date.now() - 1 })
  const sealed = (seconds: number, hash: string, by = secret) =>
    `tradepost-session=${makeSeal(by).seal(`${Math.floor(Date.now() / 1000) + seconds} ${hash}`)}`
  return {
    revoked,
    expired: sealed(60, hashKey(ended)),
    'too old': sealed(-60, hashKey(ended)),
    'sealed before the shop was restarted': sealed(60, hashKey(ended), 'another secret'),
    unreadable: 'tradepost-session=x'
  }
}

const shop = (t: Test) => build(t, { settings: { SESSION_SECRET: secret } })

t.test('a form whose sender is no longer signed in places no order, however often it is sent, and keeps all that was typed', async (t) => {
  const { app, store, key } = await shop(t)
  for (const [why, cookie] of Object.entries(await spentCookies({ app, store, key }))) {
    for (const who of [{}, { _customer: 'Acme' }]) {
      let fields: Readonly<Record<string, string>> = { ...typed, ...who, '_idempotency-key': 'the-key-of-the-form-k-9' }
      for (const attempt of ['first', 'second']) {
        const about = `${why}, ${JSON.stringify(who)}, ${attempt}`
        const refused = await post(app, '/order', fields, { ...html, ...fromHere, cookie })
        t.equal(refused.statusCode, 401, about)
        t.notOk(refused.headers['set-cookie'], 'only signing in or out replaces the cookie')
        t.match(refused.body, /You are no longer signed in( as Acme)?\. Sign in again/, about)
        t.match(refused.body, '<a href="/session" target="_blank">Sign in</a> in another tab, then send this form again.')
        t.notMatch(refused.body, 'You order as a guest')
        t.match(refused.body, 'typed &lt;at&gt; length')
        for (const [name, value] of Object.entries(fields)) if (name !== 'note.1') t.equal(hidden(refused.body, name), value, name)
        t.equal(hidden(refused.body, '_customer'), who._customer, 'the form stays that of its customer')
        fields = Object.fromEntries(
          Object.keys(fields).map((name) => [name, name === 'note.1' ? typed[name] : (hidden(refused.body, name) ?? '')])
        )
      }
    }
    for (const more of [{ _more: '5' }, { _more: '0' }]) {
      const refused = await post(app, '/order', { ...typed, ...more }, { ...html, ...fromHere, cookie })
      t.match([refused.statusCode, refused.body], [401, 'value="PO-9"'])
    }
  }
  t.equal((await store.orders({ limit: 1 })).items.length, 0)
})

t.test('the script of a form whose sender is no longer signed in places no order', async (t) => {
  const { app, store, key } = await shop(t)
  for (const cookie of Object.values(await spentCookies({ app, store, key }))) {
    for (const who of [{}, { 'tradepost-customer': 'Acme' }]) {
      for (const url of ['/order', '/order?dry-run=true']) {
        const headers = { accept: 'application/xml', 'content-type': 'application/xml', cookie, ...fromHere, ...who }
        const refused = await app.inject({ method: 'POST', url, headers, payload: orderXml() })
        t.equal(refused.statusCode, 401)
        t.match(refused.headers['content-type'], 'application/problem+xml')
        t.match(refused.body, /<detail>You are no longer signed in/)
      }
    }
  }
  t.equal((await store.orders({ limit: 1 })).items.length, 0)
})

t.test('after signing in again the same form is sent as the customer', async (t) => {
  const { app, store, key } = await shop(t)
  const { revoked } = await spentCookies({ app, store, key })
  const refused = await post(app, '/order', { ...typed, _customer: 'Acme' }, { ...html, ...fromHere, cookie: revoked })
  const fields = { ...typed, _customer: hidden(refused.body, '_customer') ?? '' }
  const other = cookieOf(await signIn(app, await key('Other', 'order'), '', { cookie: revoked }))
  t.equal((await post(app, '/order', fields, { ...html, ...fromHere, cookie: other })).statusCode, 401, 'it becomes no other customer’s')
  const cookie = cookieOf(await signIn(app, await key('Acme', 'order'), '', { cookie: revoked }))
  const placed = await post(app, '/order', fields, { ...html, ...fromHere, cookie })
  t.equal(placed.statusCode, 303)
  t.match(await store.order(String(placed.headers['location']).slice('/order/'.length)), { customer: 'Acme', orderNumber: 'PO-9' })
})

t.test('a page that depends on who is signed in says when nobody is any more, and leads on with a key or without', async (t) => {
  const { app, store, key } = await shop(t)
  const { revoked: cookie } = await spentCookies({ app, store, key })
  const show = (url: string, headers = {}) => app.inject({ url, headers: { ...html, ...headers } })
  for (const url of ['/order?product=ABC-1', '/orders', '/product/ABC-1/stock']) {
    const refused = await show(url, { cookie })
    t.equal(refused.statusCode, 401, url)
    t.match(refused.body, 'You are no longer signed in. Sign in again, or sign out to go on as a guest.')
    t.match(refused.body, `href="/session?next=${encodeURIComponent(url)}">Sign in</a>`)
    t.match(refused.headers, { vary: /Cookie/, 'cache-control': 'no-store' })
    const { _method = '', next = '' } = { _method: hidden(refused.body, '_method'), next: hidden(refused.body, 'next') }
    const left = await post(app, '/session', { _method, next }, { ...html, ...fromHere, cookie })
    t.match([left.statusCode, left.headers['location'], left.headers['set-cookie']], [303, url, /^tradepost-session=;.*Max-Age=0/])
  }
  t.match((await show('/order')).body, 'You order as a guest', 'without the cookie')
  t.equal((await post(app, '/order', line, { ...html, ...fromHere })).statusCode, 303)
  t.equal(
    (await post(app, '/session', { _method: 'DELETE', next: '//evil.example/' }, { ...html, ...fromHere, cookie })).headers['location'],
    '/session'
  )
  for (const url of ['/', '/products', '/product/ABC-1', '/docs']) t.equal((await show(url, { cookie })).statusCode, 200, url)
})

t.test('the page to sign in tells those who are no longer signed in, and has a button to sign out', async (t) => {
  const { app, store, key } = await shop(t)
  for (const [why, cookie] of Object.entries(await spentCookies({ app, store, key }))) {
    const page = await app.inject({ url: '/session', headers: { ...html, cookie } })
    t.equal(page.statusCode, 200, why)
    t.match(page.body, /You are no longer signed in[\s\S]*Your sign-in is no longer valid\.[\s\S]*>Sign out<[\s\S]*name="key"/)
    const wrong = await signIn(app, { authorization: 'Bearer tp_wrong' }, '', { cookie })
    t.match([wrong.statusCode, wrong.body], [422, />Sign out<[\s\S]*id="key-error"/])
  }
  t.notMatch((await app.inject({ url: '/session', headers: html })).body, 'no longer signed in')
})

t.test('a guest’s order can be changed again by its URI once the person has signed out', async (t) => {
  const { app, store, key } = await shop(t)
  const placed = await post(app, '/order', line)
  const uri = String(placed.headers['location'])
  const { expired: cookie } = await spentCookies({ app, store, key })
  const page = await app.inject({ url: `${uri}?form=change`, headers: html })
  const fields = {
    _method: 'PUT',
    '_if-match': hidden(page.body, '_if-match') ?? '',
    ...line,
    'item.1.quantity': '7',
    'buyer.name': 'typed'
  }
  const refused = await post(app, uri, fields, { ...html, ...fromHere, cookie })
  t.match([refused.statusCode, hidden(refused.body, 'item.1.quantity'), hidden(refused.body, 'buyer.name')], [401, '7', 'typed'])
  t.match(refused.body, 'no longer signed in')
  t.equal((await post(app, uri, fields, { ...html, ...fromHere })).statusCode, 303)
  t.match((await store.order(uri.slice('/order/'.length))).items, [{ quantity: '7' }])
})

t.test('shops whose base paths begin alike do not read each other’s cookies', async (t) => {
  const { app, key } = await build(t)
  const outer = cookieOf(await signIn(app, await key('Acme', 'order')))
  const { app: inner } = await build(t, { settings: { BASE_URL: '/shop' } })
  const headers = { ...html, ...form, ...fromHere, cookie: outer }
  t.equal((await inner.inject({ url: '/shop/order', headers: { ...html, cookie: outer } })).statusCode, 200)
  const placed = await inner.inject({ method: 'POST', url: '/shop/order', headers, payload: new URLSearchParams(line).toString() })
  t.equal(placed.statusCode, 303, 'a guest of one shop is no customer of the other')
})
