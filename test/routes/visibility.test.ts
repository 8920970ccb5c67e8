import t, { type Test } from 'tap'
import type { Scope } from '../../domain/caller.ts'
import { build, form, orderXml, type Shop, xml } from '../build.ts'

const nobodys = '/order/00000000-0000-4000-8000-000000000000'
const html = { accept: 'text/html' }

async function place({ app }: Shop, headers: Record<string, string> = {}): Promise<string> {
  const placed = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload: orderXml() })
  return String(placed.headers['location'])
}

interface Asked {
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'DELETE' | 'POST'
  readonly under?: string
  readonly headers?: Record<string, string>
  readonly payload?: string
}

const asked: readonly Asked[] = [
  {},
  { headers: html },
  { headers: { accept: 'application/json' } },
  { method: 'HEAD' },
  { headers: { 'if-match': '"old"' } },
  { headers: { 'if-none-match': '*' } },
  { headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' } },
  { under: '?form=change', headers: html },
  { under: '?form=again', headers: html },
  { under: '/status' },
  { under: '/status', headers: html },
  { method: 'PUT', headers: xml, payload: orderXml() },
  { method: 'PUT', headers: { ...xml, 'if-match': '"old"' }, payload: orderXml() },
  { method: 'PUT', headers: { ...xml, 'if-match': 'nonsense' }, payload: orderXml() },
  { method: 'PUT', headers: { ...xml, 'if-match': '*' }, payload: orderXml({ NONE: 1 }) },
  { method: 'PUT', headers: xml, payload: '<purchase-order/>' },
  { method: 'PUT', headers: { ...xml, ...html }, payload: orderXml() },
  { method: 'DELETE' },
  { method: 'DELETE', headers: { 'if-match': '"old"' } },
  { method: 'DELETE', headers: { 'if-none-match': '*', accept: 'application/json' } },
  { method: 'POST', headers: { ...form, ...html }, payload: '_method=DELETE&_if-match="old"' },
  { method: 'POST', headers: { ...form, ...html }, payload: '_method=PUT&item.1.product-id=ABC-1&item.1.quantity=1' },
  { method: 'POST', headers: { ...form, ...html }, payload: '_method=PUT&item.1.product-id=ABC-1&item.1.quantity=x' },
  { method: 'POST', headers: { ...form, ...html }, payload: '_method=PUT&_more=5&item.1.product-id=ABC-1' },
  { method: 'POST', headers: { ...form, ...html }, payload: '_method=WRONG' },
  { method: 'POST', headers: form, payload: '_method=PUT&_if-match="old"&item.1.product-id=ABC-1&item.1.quantity=1' }
]

/** All that an answer tells, but for the URI that was asked for, and for what differs between any two answers. */
async function answer({ app }: Shop, uri: string, { method = 'GET', under = '', headers = {}, payload }: Asked) {
  const { statusCode, headers: got, body } = await app.inject({ method, url: `${uri}${under}`, headers, ...(payload ? { payload } : {}) })
  const { date: _, 'x-request-id': __, ...fields } = got
  const without = (text: string) => text.replaceAll(uri.slice('/order/'.length), 'ID')
  return { statusCode, headers: without(JSON.stringify(fields)), body: without(body) }
}

t.test('an order that a caller may not see is answered to the last byte as one that is not there, whatever is asked of it', async (t) => {
  const shop = await build(t)
  const owner = await shop.key('ACME', 'order')
  const theirs = await place(shop, owner)
  const stranger = await shop.key('Globex', 'order')
  for (const who of [{}, stranger]) {
    for (const one of asked) {
      const request = { ...one, headers: { ...one.headers, ...who } }
      const hidden = await answer(shop, theirs, request)
      t.same(hidden, await answer(shop, nobodys, request), JSON.stringify(one))
      t.ok(hidden.statusCode >= 400)
    }
  }
  const malformed = await answer(shop, `/order/${'z'.repeat(36)}`, {})
  t.same(malformed, await answer(shop, theirs, {}), 'also one whose id is of another form')
  t.match((await shop.app.inject({ url: theirs, headers: owner })).body, '<status>accepted</status>', 'nothing became of it')
})

t.test('the write of an order that may not be seen is refused before its conditions are looked at', async (t) => {
  const shop = await build(t)
  const theirs = await place(shop, await shop.key('ACME', 'order'))
  for (const condition of [{}, { 'if-match': '"old"' }, { 'if-match': 'nonsense' }, { 'if-none-match': '*' }]) {
    const put = await answer(shop, theirs, { method: 'PUT', headers: { ...xml, ...condition }, payload: orderXml() })
    t.equal(put.statusCode, 404, JSON.stringify(condition))
    t.equal((await answer(shop, theirs, { method: 'DELETE', headers: condition })).statusCode, 404, JSON.stringify(condition))
  }
})

async function sellers(t: Test, ...scopes: Scope[]) {
  const shop = await build(t)
  const customer = await shop.key('ACME', 'order')
  return { shop, customer, theirs: await place(shop, customer), seller: await shop.key('Seller', ...scopes) }
}

t.test('fulfilment sees every order and sets its status, and neither changes nor cancels it', async (t) => {
  for (const scopes of [['fulfilment'], ['fulfilment', 'order']] as const) {
    const { shop, theirs, seller } = await sellers(t, ...scopes)
    const { app } = shop
    const read = await app.inject({ url: theirs, headers: seller })
    t.equal(read.statusCode, 200)
    t.notMatch(read.body, /rel="edit"|method="DELETE"/)
    t.match(read.body, /rel="ship"/)
    for (const etag of [String(read.headers['etag']), '"old"']) {
      const headers = { ...seller, 'if-match': etag }
      const put = await app.inject({ method: 'PUT', url: theirs, headers: { ...xml, ...headers }, payload: orderXml({ 'ABC-1': 2 }) })
      t.match([put.statusCode, put.body], [403, 'problems/forbidden'], 'also with an old tag')
      t.equal((await app.inject({ method: 'DELETE', url: theirs, headers })).statusCode, 403)
    }
    for (const payload of ['_method=DELETE', '_method=PUT&item.1.product-id=ABC-1&item.1.quantity=9']) {
      const posted = await app.inject({ method: 'POST', url: theirs, headers: { ...seller, ...form, ...html }, payload })
      t.equal(posted.statusCode, 403, payload)
    }
    for (const query of ['', '?form=change', '?form=again']) {
      const page = await app.inject({ url: `${theirs}${query}`, headers: { ...seller, ...html } })
      t.equal(page.statusCode, 200)
      t.notMatch(page.body, /Change this order|Cancel this order|these products again|name="_method"|name="_idempotency-key"/)
    }
    t.match((await app.inject({ url: theirs, headers: seller })).body, 'version="1"')
    const status = await app.inject({ url: `${theirs}/status`, headers: seller })
    const cancelled = await app.inject({
      method: 'PUT',
      url: `${theirs}/status`,
      headers: { ...xml, ...seller, 'if-match': String(status.headers['etag']) },
      payload: '<order-status><status>cancelled</status></order-status>'
    })
    t.equal(cancelled.statusCode, 200, 'the seller cancels by the status')
  }
})

t.test('a key that may order too changes its own customer’s orders, and a guest’s, whose URI it holds', async (t) => {
  const { shop, seller } = await sellers(t, 'fulfilment', 'order')
  for (const uri of [await place(shop, seller), await place(shop)]) {
    const read = await shop.app.inject({ url: uri, headers: seller })
    t.match(read.body, /rel="edit"[\s\S]*rel="cancel"[\s\S]*rel="ship"/)
    const headers = { ...xml, ...seller, 'if-match': String(read.headers['etag']) }
    const put = await shop.app.inject({ method: 'PUT', url: uri, headers, payload: orderXml({ 'ABC-1': 2 }) })
    t.equal(put.statusCode, 200)
    t.equal((await shop.app.inject({ method: 'DELETE', url: uri, headers: seller })).statusCode, 200)
  }
})

t.test('callers who see different links in an order get different tags of it', async (t) => {
  const { shop, customer, theirs, seller } = await sellers(t, 'fulfilment')
  const own = await shop.key('ACME', 'order', 'fulfilment')
  const tags = await Promise.all(
    [customer, seller, own].map(async (headers) => (await shop.app.inject({ url: theirs, headers })).headers['etag'])
  )
  t.equal(new Set(tags).size, 3)
})
