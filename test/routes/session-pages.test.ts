import t from 'tap'
import { build, form } from '../build.ts'
import { cookieOf, fromHere, html, signIn } from './signing-in.ts'

t.test('a key that may not list orders signs in to its account, which says how products are changed', async (t) => {
  const { app, key } = await build(t)
  const catalogue = await signIn(app, await key('Shelves', 'catalogue'))
  t.match([catalogue.statusCode, catalogue.headers['location']], [303, '/session'])
  const headers = { ...html, cookie: cookieOf(catalogue) }
  const account = await app.inject({ url: '/session?next=%2Fevents', headers })
  t.match(account.body, /changed by import or by the API: <a href="\/docs\/catalogue">/)
  t.notMatch(account.body, 'See the orders')
  t.match((await app.inject({ url: '/product/ABC-1/stock', headers })).body, 'changed by import or by the API')
  t.equal((await app.inject('/docs/catalogue')).statusCode, 200)
  const buyer = await signIn(app, await key('Acme', 'order'))
  t.equal(buyer.headers['location'], '/orders')
  t.notMatch((await app.inject({ url: '/session', headers: { ...html, cookie: cookieOf(buyer) } })).body, 'changed by import')
})

t.test('a page that needs a key asks a person to sign in, and a machine to send the key', async (t) => {
  const { app, key } = await build(t)
  const page = await app.inject({ url: '/orders', headers: html })
  t.equal(page.statusCode, 401)
  t.match(
    page.body,
    /<h1>Sign in to see this<\/h1>[\s\S]*the key that the shop gave to your company[\s\S]*href="\/session\?next=%2Forders">Sign in</
  )
  t.notMatch(page.body, 'Bearer')
  t.match((await app.inject({ url: '/orders', headers: { accept: 'application/json' } })).json(), { status: 401, detail: /Bearer KEY/ })
  const cookie = cookieOf(await signIn(app, await key('Acme', 'order')))
  const headers = { ...html, ...form, ...fromHere, cookie }
  const left = await app.inject({ method: 'POST', url: '/webhooks', headers, payload: 'url=https%3A%2F%2Fa.example&_customer=Other' })
  t.match([left.statusCode, left.body], [401, /<h1>Sign in to go on<\/h1>[\s\S]*You are no longer signed in as Other/])
})

t.test('a guest who looks for an order is told where it is', async (t) => {
  const { app } = await build(t)
  const page = async (url: string) => (await app.inject({ url, headers: { accept: 'text/html' } })).body
  for (const url of ['/orders', '/orders?status=accepted', '/session?next=%2Forders']) {
    t.match(await page(url), 'your order is at the address that was shown when you placed it', url)
  }
  for (const url of ['/session', '/webhooks']) t.notMatch(await page(url), 'your order is at', url)
})
