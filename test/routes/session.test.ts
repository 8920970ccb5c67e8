import t from 'tap'
import { cameFrom } from '../../http/origin.ts'
import { makeSeal } from '../../http/seal.ts'
import { build, form, orderXml } from '../build.ts'
import { cookieOf, fromHere, html, signIn } from './signing-in.ts'

t.test('a key that was entered once shows the pages of its customer, by a cookie that scripts and other sites never get', async (t) => {
  const { app, key } = await build(t)
  const acme = await key('Acme', 'order')
  const answer = await signIn(app, acme, '/orders?status=shipped')
  t.equal(answer.statusCode, 303)
  t.equal(answer.headers['location'], '/orders?status=shipped')
  const cookie = String(answer.headers['set-cookie'])
  t.match(cookie, /; Path=\/;.*HttpOnly.*SameSite=Strict/)
  t.match(cookie, /Max-Age=43200/)
  t.notMatch(cookie, /Secure/, 'over plain HTTP a browser would drop it')
  t.notMatch(cookie, acme.authorization.slice(10), 'the key is not in it')
  const page = await app.inject({ url: '/orders', headers: { ...html, cookie: cookieOf(answer) } })
  t.equal(page.statusCode, 200)
  t.match(page.body, 'Orders of <bdi>Acme</bdi>')
  t.equal(page.headers['vary'], 'Accept, Cookie')
  t.match(page.headers['cache-control'], /^private/)
})

t.test('over HTTPS the cookie is Secure, and it belongs to the base path', async (t) => {
  const { app, key } = await build(t, { settings: { TRUST_PROXY: '127.0.0.1', BASE_URL: '/shop' } })
  const payload = new URLSearchParams({ key: (await key('Acme', 'order')).authorization.slice(7) }).toString()
  const answer = await app.inject({
    method: 'POST',
    url: '/shop/session',
    headers: { ...html, ...form, 'x-forwarded-proto': 'https', 'sec-fetch-site': 'same-origin' },
    payload
  })
  t.match(answer.headers['set-cookie'], /Path=\/shop;.*Secure/)
})

t.test('under an https BASE_URL the cookie is Secure, set and cleared, whatever a proxy says', async (t) => {
  const { app, key } = await build(t, { settings: { BASE_URL: 'https://shop.example/shop' } })
  const send = (payload: string, headers = {}) =>
    app.inject({
      method: 'POST',
      url: '/shop/session',
      headers: { ...html, ...form, 'sec-fetch-site': 'same-origin', ...headers },
      payload
    })
  const signedIn = new URLSearchParams({ key: (await key('Acme', 'order')).authorization.slice(7) }).toString()
  for (const headers of [{}, { 'x-forwarded-proto': 'http' }]) {
    t.match((await send(signedIn, headers)).headers['set-cookie'], /^tradepost-session%2Fshop=.+Path=\/shop;.*Secure/)
    t.match((await send('_method=DELETE', headers)).headers['set-cookie'], /^tradepost-session%2Fshop=;.*Secure/)
  }
})

t.test('a proxy that is not trusted makes no cookie Secure', async (t) => {
  for (const settings of [{}, { TRUST_PROXY: '192.0.2.1' }, { BASE_URL: 'http://shop.example' }]) {
    const { app, key } = await build(t, { settings })
    const answer = await signIn(app, await key('Acme', 'order'), '', { 'x-forwarded-proto': 'https' })
    t.equal(answer.statusCode, 303)
    t.notMatch(answer.headers['set-cookie'], /Secure/, JSON.stringify(settings))
  }
})

t.test('a wrong key signs nobody in, and the page says so', async (t) => {
  const { app } = await build(t)
  for (const authorization of ['Bearer tp_wrong', 'Bearer x', 'Bearer ']) {
    const answer = await signIn(app, { authorization })
    t.equal(answer.statusCode, 422)
    t.notOk(answer.headers['set-cookie'])
    t.match(answer.body, /id="key-error"/)
    t.notMatch(answer.body, 'tp_wrong')
  }
})

t.test('the cookie signs no machine in: not for XML or JSON, not for PUT and DELETE', async (t) => {
  const { app, key } = await build(t)
  const cookie = cookieOf(await signIn(app, await key('Seller', 'order', 'fulfilment', 'catalogue')))
  for (const accept of ['application/xml', 'application/json'])
    t.equal((await app.inject({ url: '/orders', headers: { accept, cookie } })).statusCode, 401, accept)
  const put = await app.inject({
    method: 'PUT',
    url: '/product/NEW',
    headers: { ...html, cookie, ...fromHere, 'content-type': 'application/xml' },
    payload: '<product><name>x</name><price>1</price></product>'
  })
  t.equal(put.statusCode, 401)
  t.equal((await app.inject({ method: 'DELETE', url: '/product/ABC-1', headers: { ...html, cookie, ...fromHere } })).statusCode, 401)
})

t.test('a forged post from another origin is refused, with a cookie and without', async (t) => {
  const { app, key, store } = await build(t)
  const cookie = cookieOf(await signIn(app, await key('Acme', 'order')))
  const forged: readonly Readonly<Record<string, string>>[] = [
    { origin: 'https://evil.example' },
    { origin: 'http://sub.localhost' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', ...fromHere }
  ]
  for (const headers of forged) {
    for (const who of [{ cookie }, {}]) {
      const answer = await app.inject({
        method: 'POST',
        url: '/order',
        headers: { ...html, ...form, ...headers, ...who },
        payload: 'item.1.product-id=ABC-1&item.1.quantity=1'
      })
      t.equal(answer.statusCode, 403, JSON.stringify({ ...headers, ...who }))
    }
    const xml = await app.inject({
      method: 'POST',
      url: '/order',
      headers: { 'content-type': 'application/xml', cookie, ...headers },
      payload: orderXml()
    })
    t.equal(xml.statusCode, 403, 'a script elsewhere')
    t.equal((await signIn(app, await key('Other', 'order'), '', headers)).statusCode, 403, 'nobody is signed in by another site')
  }
  t.equal(
    (
      await app.inject({
        method: 'POST',
        url: '/order',
        headers: { ...html, ...form, cookie },
        payload: 'item.1.product-id=ABC-1&item.1.quantity=1'
      })
    ).statusCode,
    403,
    'a post with the cookie that does not say where it is from'
  )
  t.equal((await store.orders({ limit: 10 })).items.length, 0)
})

t.test(
  'a form or script of this site that the cookie authenticates orders as the customer; a machine without one as a guest',
  async (t) => {
    const { app, key, store } = await build(t)
    const cookie = cookieOf(await signIn(app, await key('Acme', 'order')))
    const payload = 'item.1.product-id=ABC-1&item.1.quantity=1&_customer=Acme'
    const posts = [
      { headers: { ...html, ...form, cookie, ...fromHere }, payload },
      { headers: { ...html, ...form, cookie, 'sec-fetch-site': 'same-origin' }, payload },
      {
        headers: {
          accept: 'application/xml',
          'content-type': 'application/xml',
          cookie,
          'sec-fetch-site': 'same-origin',
          'tradepost-customer': 'Acme'
        },
        payload: orderXml()
      }
    ]
    for (const { headers, payload } of posts) {
      const { statusCode, headers: answered } = await app.inject({ method: 'POST', url: '/order', headers, payload })
      t.ok(statusCode === 303 || statusCode === 201)
      t.equal((await store.order(String(answered['location']).slice('/order/'.length))).customer, 'Acme')
    }
    const machine = await app.inject({ method: 'POST', url: '/order', headers: form, payload: 'item.1.product-id=ABC-1&item.1.quantity=1' })
    t.equal(machine.statusCode, 303)
  }
)

t.test('a cookie that was changed, made up, or sealed with another secret is no sign-in', async (t) => {
  const { app, key } = await build(t, { settings: { SESSION_SECRET: 'one secret' } })
  const cookie = cookieOf(await signIn(app, await key('Acme', 'order')))
  const [name = '', value = ''] = cookie.split('=')
  const bytes = Buffer.from(value, 'base64url')
  const changed = [0, 12, 28, bytes.length - 1].map((at) => {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] ?? 0) ^ 1
    return copy.toString('base64url')
  })
  const ends = Math.floor(Date.now() / 1000) + 60
  const foreign = makeSeal('another secret').seal(`${ends} ${'0'.repeat(64)}`)
  const late = makeSeal('one secret').seal(`${ends - 120} ${'0'.repeat(64)}`)
  for (const bad of [...changed, value.slice(0, 20), '', 'x', foreign, late]) {
    const answer = await app.inject({ url: '/orders', headers: { ...html, cookie: `${name}=${bad}` } })
    t.equal(answer.statusCode, 401, bad)
  }
})

t.test('a revoked key is refused from the next request on', async (t) => {
  const { app, key, store } = await build(t)
  const cookie = cookieOf(await signIn(app, await key('Acme', 'order')))
  const show = () => app.inject({ url: '/orders', headers: { ...html, cookie } })
  t.equal((await show()).statusCode, 200)
  for (const { id } of await store.keys()) await store.revokeKey(id)
  t.equal((await show()).statusCode, 401)
  const order = await app.inject({
    method: 'POST',
    url: '/order',
    headers: { ...html, ...form, ...fromHere, cookie },
    payload: 'item.1.product-id=ABC-1&item.1.quantity=1&_customer=Acme&buyer.name=kept'
  })
  t.equal(order.statusCode, 401, 'nobody orders as a guest who meant to order as Acme')
  t.match(order.body, 'value="kept"')
  t.match(order.body, 'no longer signed in as Acme')
})

t.test('signing out deletes the cookie', async (t) => {
  const { app, key } = await build(t)
  const cookie = cookieOf(await signIn(app, await key('Acme', 'order')))
  const answer = await app.inject({
    method: 'POST',
    url: '/session',
    headers: { ...html, ...form, ...fromHere, cookie },
    payload: '_method=DELETE'
  })
  t.equal(answer.statusCode, 303)
  t.match(answer.headers['set-cookie'], /^tradepost-session=;.*(Max-Age=0|Expires=Thu, 01 Jan 1970)/)
  const bare = await app.inject({ method: 'DELETE', url: '/session', headers: { cookie } })
  t.equal(bare.statusCode, 204)
  t.match(bare.headers, { 'set-cookie': /^tradepost-session=;/, 'cache-control': 'no-store' })
})

t.test('a form that asks for another method than to sign in or out does neither', async (t) => {
  const { app, key } = await build(t)
  const { authorization } = await key('Acme', 'order')
  const payload = `_method=PUT&key=${authorization.slice('Bearer '.length)}`
  const answer = await app.inject({ method: 'POST', url: '/session', headers: { ...html, ...form, ...fromHere }, payload })
  t.equal(answer.statusCode, 400)
  t.match(answer.body, '_method must be DELETE')
  t.notOk(answer.headers['set-cookie'])
})

t.test('a person who needs a key is led to the sign-in page, without the browser asking for a password', async (t) => {
  const { app } = await build(t)
  const page = await app.inject({ url: '/orders?status=shipped', headers: html })
  t.equal(page.statusCode, 401)
  t.match(page.body, 'href="/session?next=%2Forders%3Fstatus%3Dshipped"')
  t.equal(page.headers['www-authenticate'], 'Bearer realm="tradepost"')
  t.match((await app.inject({ url: '/orders' })).headers['www-authenticate'], /Basic/, 'a machine is told of both')
  const elsewhere = await app.inject({ url: '/session?next=//evil.example', headers: html })
  t.notMatch(elsewhere.body, 'evil')
})

t.test('a bad Authorization is 401 also beside a good cookie', async (t) => {
  const { app, key } = await build(t)
  const cookie = cookieOf(await signIn(app, await key('Acme', 'order')))
  t.equal((await app.inject({ url: '/orders', headers: { ...html, cookie, authorization: 'Bearer tp_wrong' } })).statusCode, 401)
})

t.test('the headers by which a browser says where a request is from', async (t) => {
  const of = (headers: Record<string, string>, published?: string) => cameFrom({ headers, host: 'shop.example:8080' }, published)
  t.equal(of({}), 'unknown')
  t.equal(of({ origin: 'http://shop.example:8080' }), 'here')
  t.equal(of({ origin: 'http://shop.example' }), 'elsewhere')
  t.equal(of({ origin: 'https://shop.example' }, 'https://shop.example'), 'here', 'also where a proxy does not pass on Host')
  t.equal(of({ origin: 'http://shop.example' }, 'https://shop.example'), 'elsewhere')
  t.equal(of({ origin: 'nonsense' }), 'elsewhere')
  t.equal(of({ 'sec-fetch-site': 'none' }), 'here')
  t.equal(of({ 'sec-fetch-site': 'same-site', origin: 'http://shop.example:8080' }), 'elsewhere')
})

t.test('the page of a hidden order offers to sign in and leads back to it, also when already signed in', async (t) => {
  const { app, key } = await build(t)
  const acme = await key('Acme', 'order')
  const placed = await app.inject({
    method: 'POST',
    url: '/order',
    headers: { ...acme, 'content-type': 'application/xml' },
    payload: orderXml()
  })
  const uri = String(placed.headers['location'])
  const page = (headers: Readonly<Record<string, string>>, url = uri) => app.inject({ url, headers: { ...html, ...headers } })
  const next = `/session?next=${encodeURIComponent(uri)}`
  for (const url of [uri, '/order/00000000-0000-4000-8000-000000000000']) {
    const none = await page({}, url)
    t.equal(none.statusCode, 404, 'which tells nobody whether there is one')
    t.match(none.body, `<a href="/session?next=${encodeURIComponent(url)}">sign in</a>`)
  }
  const signedIn = await signIn(app, acme, uri)
  t.equal(signedIn.headers['location'], uri)
  const cookie = cookieOf(signedIn)
  t.match((await page({ cookie }, next)).body, `<a class="button" href="${uri}">Continue to where you were</a>`)
  t.notMatch((await page({ cookie }, '/session?next=//evil.example/')).body, 'evil')
  const other = cookieOf(await signIn(app, await key('Other', 'order')))
  t.notMatch((await page({ cookie: other })).body, 'sign in</a>', 'who is signed in is not told to do it again')
})
