/** Where a form says what: at a field, at the page's top, on the page after it. */

import t from 'tap'
import { build } from '../build.ts'
import { hidden, html, line, placedUri, post } from './form-post.ts'

t.test('a country says how it is written, and its error whose it is; only a form may have it in small letters', async (t) => {
  const { app, store } = await build(t)
  const country = (value: string) => ({ ...line, 'ship-to.address.country': value })
  const { body } = await post(app, '/order', country('Germany'))
  t.match(body, '<li>Ship to: <a href="#ship-to.address.country">Country is &quot;Germany&quot;')
  t.match(body, /<input id="ship-to.address.country"[^>]* aria-describedby="ship-to.address.country-error ship-to.address.country-hint"/)
  t.match(body, /<input id="buyer.address.country"[^>]* aria-describedby="buyer.address.country-hint"/)
  t.match(body, '<p class="hint" id="buyer.address.country-hint">Two letters, such as DE</p>')
  const uri = placedUri(await post(app, '/order', country(' de')))
  t.match(await store.order(uri.slice('/order/'.length)), { shipTo: { address: { country: 'DE' } } })
  t.equal((await post(app, '/order', country('ß'))).statusCode, 422)
  const payload = { item: [{ productId: 'ABC-1', quantity: 1 }], shipTo: { address: { country: 'de' } } }
  t.equal((await app.inject({ method: 'POST', url: '/order', payload })).statusCode, 422)
})

t.test('a refused change marks the line of which more was shipped; a line that was removed has no place', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': {}, 'B-2': {} } })
  const two = { ...line, 'item.2.product-id': 'B-2', 'item.2.quantity': '10' }
  const uri = placedUri(await post(app, '/order', two))
  const id = uri.slice('/order/'.length)
  await store.shipOrder(id, { items: [{ line: 2, quantity: '4' as never }] }, {})
  const tag = String((await app.inject({ url: uri, headers: html })).headers['etag'])
  const below = await post(app, uri, { _method: 'PUT', '_if-match': tag, ...two, 'item.2.quantity': '2' })
  t.equal(below.statusCode, 409)
  t.match(below.body, '<strong>The order cannot be changed now</strong>')
  t.match(below.body, '<li>Line 2: <a href="#item.2.quantity">4 of B-2 at 9.99 EUR was shipped')
  t.match(below.body, /<input id="item.2.quantity"[^>]* aria-invalid="true"/)
  t.equal(below.body.match(/aria-invalid/g)?.length, 1)
  const removed = await post(app, uri, { _method: 'PUT', '_if-match': tag, ...line })
  t.equal(removed.statusCode, 409)
  t.match(removed.body, '<li>4 of B-2 at 9.99 EUR was shipped')
  t.notMatch(removed.body, 'aria-invalid')
  const send = { method: 'PUT', url: uri, headers: { 'content-type': 'application/json', 'if-match': tag } } as const
  const items = [
    { productId: 'ABC-1', quantity: 3 },
    { productId: 'B-2', quantity: 1 }
  ]
  const json = await app.inject({ ...send, headers: { ...send.headers, accept: 'application/json' }, payload: { item: items } })
  t.match(json.json(), { status: 409, errors: [{ code: 'already-shipped' }] })
  t.equal(json.json().errors[0].path, '/item/1/quantity')
})

t.test('the page of an open order tells its guest first that it is placed, and to keep the address', async (t) => {
  const { app } = await build(t)
  const uri = placedUri(await post(app, '/order', line))
  const { body, headers } = await app.inject({ url: uri, headers: html })
  t.match(
    body,
    /<\/h1>\s*<p id="done"[^>]* hidden>[^<]*<\/p>\s*<p class="notice done screen"><strong>Your order is placed\.<\/strong> Keep the address/
  )
  t.equal((await post(app, uri, { _method: 'DELETE', '_if-match': String(headers['etag']) })).headers['location'], `${uri}#done`)
  const ended = (await app.inject({ url: uri, headers: html })).body
  t.match(ended, /<p class="notice screen">Keep the address/)
  t.notMatch(ended, 'is placed')
})

t.test('an order leads its buyer to a new form with its products, quantities and parties', async (t) => {
  const { app, store, key } = await build(t, { products: { 'ABC-1': { onHand: '200' as never }, 'KG-1': { unit: 'KGM' } } })
  const parties = {
    'buyer.name': 'Acme "plant"',
    'buyer.contact': 'Ann',
    'buyer.email': 'ann@acme.example',
    'buyer.phone': '+49 1',
    'buyer.tax-id': 'DE123456789',
    'buyer.address.street': 'Road 1',
    'buyer.address.additional-street': 'Gate C',
    'buyer.address.city': 'Town',
    'buyer.address.postal-code': '12345',
    'buyer.address.region': 'BW',
    'buyer.address.country': 'DE',
    'ship-to.name': 'Plant 2',
    'bill-to.address.city': 'Elsewhere'
  }
  const onlyThen = { 'order-number': 'PO-OLD', 'issue-date': '2026-11-07', 'requested-delivery-date': '2026-12-01', 'note.1': 'Ring first' }
  const ofLine = {
    'item.1.note.1': 'In one box',
    'item.1.line-id': 'THEIR-1',
    'item.1.requested-delivery-date': '2026-12-02',
    'extension.1.name': 'cost-centre',
    'extension.1': '4711-x'
  }
  const lines = { ...line, 'item.2.product-id': 'KG-1', 'item.2.quantity': '2.5' }
  const uri = placedUri(await post(app, '/order', { ...lines, ...parties, ...onlyThen, ...ofLine }))
  const page = (query = '', headers: Readonly<Record<string, string>> = {}) =>
    app.inject({ url: `${uri}${query}`, headers: { ...html, ...headers } })
  t.match((await page()).body, `href="${uri}?form=again">Order these products again</a>`)
  const { body, headers, statusCode } = await page('?form=again')
  t.equal(statusCode, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.match(body, '<form method="post" action="/order" id="order"')
  for (const [name, value] of Object.entries({ ...lines, ...parties })) t.equal(hidden(body, name), value, name)
  for (const text of [...Object.values(onlyThen), ...Object.values(ofLine)]) t.notMatch(body, text)
  t.match(hidden(body, '_idempotency-key'), /./, 'it is a new order')
  const again = placedUri(await post(app, '/order', { ...lines, ...parties, '_idempotency-key': hidden(body, '_idempotency-key') ?? '' }))
  t.not(again, uri)
  const seller = await key('Seller', 'fulfilment')
  t.notMatch((await page('', seller)).body, 'Order these products again', 'the seller does not order')
  t.notMatch((await page('?form=again', seller)).body, '<form method="post" action="/order"')
  t.match((await app.inject(`${uri}?form=again`)).body, /^<\?xml[\s\S]*<order id=/, 'a machine gets the order')
  const many = Array.from({ length: 101 }, () => ({ product: { productId: 'ABC-1' }, quantity: '1' as never, notes: [] }))
  const { order } = await store.placeOrder({ order: { items: many, notes: [], extensions: [] }, status: 'accepted' })
  t.notMatch((await app.inject({ url: `/order/${order.id}`, headers: html })).body, 'Order these products again')
})

t.test('a customer’s order is ordered again by that customer only', async (t) => {
  const { app, key } = await build(t)
  const acme = await key('Acme', 'order')
  const uri = placedUri(await post(app, '/order', { ...line, 'ship-to.name': 'Plant 2' }, { ...html, ...acme }))
  const form = (headers: Readonly<Record<string, string>>) => app.inject({ url: `${uri}?form=again`, headers: { ...html, ...headers } })
  t.match((await form(acme)).body, /name="_customer" value="Acme"[\s\S]*value="Plant 2"/)
  for (const headers of [{}, await key('Other', 'order')]) {
    const hiddenOrder = await form(headers)
    t.equal(hiddenOrder.statusCode, 404)
    t.notMatch(hiddenOrder.body, 'Plant 2')
  }
})

t.test('a blank order starts with the products and quantities of its URI', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': {}, 'KG-1': { unit: 'KGM' } } })
  const again = '/order?product=ABC-1&quantity=3&product=KG-1&quantity=2.5'
  const { body } = await app.inject({ url: again, headers: html })
  for (const [name, value] of [
    ['item.1.product-id', 'ABC-1'],
    ['item.1.quantity', '3'],
    ['item.2.product-id', 'KG-1'],
    ['item.2.quantity', '2.5']
  ]) {
    t.match(body, `name="${name}" value="${value}"`)
  }
  const xml = await app.inject(again)
  t.match(xml.body, /<product-id>KG-1<\/product-id>\s*<quantity>2\.5<\/quantity>/)
  t.equal((await app.inject('/order?product=ABC-1&quantity=many')).statusCode, 400)
})
