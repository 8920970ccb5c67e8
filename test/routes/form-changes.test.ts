import t from 'tap'
import { build, draft } from '../build.ts'
import { hidden, html, line, post } from './form-post.ts'

t.test('a form that is sent twice is not told that somebody else was quicker', async (t) => {
  const { app, store, key } = await build(t)
  const uri = String((await post(app, '/order', line)).headers['location'])
  const tag = String((await app.inject({ url: uri, headers: html })).headers['etag'])
  const fields = { _method: 'PUT', '_if-match': tag, ...line, 'item.1.quantity': '4', 'note.1': 'twice' }
  for (const _time of [1, 2]) t.match(await post(app, uri, fields), { statusCode: 303, headers: { location: uri } })
  t.equal((await store.order(uri.slice('/order/'.length))).version, 2, 'and it is done once')

  const seller = { ...html, ...(await key('Seller', 'catalogue')) }
  const stock = '/product/ABC-1/stock'
  const read = hidden((await app.inject({ url: stock, headers: seller })).body, '_if-match') ?? ''
  const count = { _method: 'PUT', '_if-match': read, 'on-hand': '77.50' }
  for (const _time of [1, 2]) t.match(await post(app, stock, count, seller), { statusCode: 303, headers: { location: stock } })
})

t.test('a line is dropped with all that is in it, and what is left of one is asked for', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': {}, 'B-2': {} } })
  const two = { ...line, 'item.1.note.1': 'engrave', 'item.2.product-id': 'B-2', 'item.2.quantity': '1' }
  const uri = String((await post(app, '/order', two)).headers['location'])
  const tag = String((await app.inject({ url: uri, headers: html })).headers['etag'])
  const change = { _method: 'PUT', '_if-match': tag, 'item.2.product-id': 'B-2', 'item.2.quantity': '1' }
  const half = await post(app, uri, { ...change, 'item.1.product-id': '', 'item.1.quantity': '', 'item.1.note.1': 'engrave' })
  t.equal(half.statusCode, 422)
  t.match(half.body, '<li>Line 1: <a href="#item.1.product-id">Choose a product for this line, or clear the rest of it.</a></li>')
  t.match(half.body, /<textarea id="item.1.note.1"[^>]*>\s*engrave/)
  const all = await post(app, uri, { ...change, 'item.1.product-id': '', 'item.1.quantity': '', 'item.1.note.1': '' })
  t.equal(all.statusCode, 303)
  t.match(await store.order(uri.slice('/order/'.length)), { items: [{ productId: 'B-2', notes: [] }] })
})

t.test('an order that is changed by a form keeps what a browser could not show', async (t) => {
  const { app, store } = await build(t)
  const placed = await app.inject({
    method: 'POST',
    url: '/order',
    headers: { 'content-type': 'application/json' },
    payload: {
      requestedDeliveryDate: '2026-12-01Z',
      buyer: { name: 'Line one\nline two', email: 'müller@firma.example' },
      item: [{ productId: 'ABC-1', quantity: '1' }]
    }
  })
  t.equal(placed.statusCode, 201, placed.body)
  const { body } = await app.inject({ url: `${placed.headers['location']}?form=change`, headers: html })
  t.match(body, /<input id="requested-delivery-date"[^>]* value="2026-12-01Z"/)
  t.notMatch(body, 'type="date"')
  t.match(body, /<textarea id="buyer.name"[^>]*>\s*Line one\nline two<\/textarea>/)
  t.match(body, /<input id="buyer.email"[^>]* inputmode="email"/)
  t.notMatch(body, 'type="email"')
  t.notMatch(body, /<input id="ship-to\.[^>]* pattern=/, 'a closed section holds nothing that a browser would silently refuse')
  t.match((await store.orders({ limit: 1 })).items, [{ requestedDeliveryDate: '2026-12-01Z' }])
})

t.test('the lines of an order that is changed show the price that they keep, also of what is no longer sold', async (t) => {
  const { app, store } = await build(t)
  const uri = String((await post(app, '/order', line)).headers['location'])
  await store.putProduct('ABC-1', draft({ name: 'Another', price: '11.11' as never }), {})
  await store.deleteProduct('ABC-1', {})
  const { body } = await app.inject({ url: `${uri}?form=change`, headers: html })
  t.match(body, /<li data-line="1" data-product="ABC-1" data-name="[^"]*" data-price="9.99">/)
  t.match(body, /<bdi>[^<]*<\/bdi>, €9.99 per piece/)
})

t.test('who was signed out keeps what was typed, is told so, and never acts as a guest unawares', async (t) => {
  const { app, store, key } = await build(t)
  const buyer = { ...html, ...(await key('Müller & Co', 'order')) }
  const uri = String((await post(app, '/order', line, buyer)).headers['location'])
  const edit = await app.inject({ url: `${uri}?form=change`, headers: buyer })
  t.match(edit.body, 'name="_customer" value="Müller &amp; Co"')
  const typed = {
    _method: 'PUT',
    '_if-match': hidden(edit.body, '_if-match') ?? '',
    _customer: 'Müller & Co',
    ...line,
    'note.1': 'typed <at> length'
  }
  const out = await post(app, uri, typed)
  t.equal(out.statusCode, 401)
  t.match(out.body, 'typed &lt;at&gt; length')
  t.match(out.body, '<a href="/session" target="_blank">Sign in</a> in another tab')
  t.match(out.body, 'name="_customer" value="Müller &amp; Co"')
  t.equal(hidden(out.body, '_if-match'), typed['_if-match'])
  t.equal((await post(app, uri, typed, buyer)).statusCode, 303, 'signed in again, the same goes through')

  const shown = await app.inject({ url: uri, headers: buyer })
  const cancel = { _method: 'DELETE', '_if-match': hidden(shown.body, '_if-match') ?? '', _customer: 'Müller & Co' }
  t.match(shown.body, /value="DELETE">.*name="_customer" value="Müller &amp; Co"/)
  const refused = await post(app, uri, cancel)
  t.equal(refused.statusCode, 401)
  t.match(refused.body, `href="/session?next=${encodeURIComponent(uri)}"`)
  t.equal((await store.order(uri.slice('/order/'.length))).status, 'accepted')

  const count = await post(app, '/product/ABC-1/stock', { _method: 'PUT', '_if-match': '"x"', 'on-hand': '123', _customer: 'Seller' })
  t.equal(count.statusCode, 401)
  t.match(count.body, 'value="123"')
  t.match(count.body, 'in another tab')
})

t.test('pages with forms of two callers are two representations', async (t) => {
  const { app, key } = await build(t)
  const uri = String((await post(app, '/order', line)).headers['location'])
  const [one, two] = [await key('One', 'catalogue', 'fulfilment'), await key('Two', 'catalogue', 'fulfilment')]
  for (const url of [uri, `${uri}/status`, '/product/ABC-1/stock']) {
    const tags = await Promise.all(
      [{}, one, two].map(async (who) => (await app.inject({ url, headers: { ...html, ...who } })).headers['etag'])
    )
    t.equal(new Set(tags).size, 3, url)
    const xml = await Promise.all([one, two].map(async (who) => (await app.inject({ url, headers: who })).headers['etag']))
    t.equal(new Set(xml).size, 1, `${url} as XML has no form`)
  }
})

t.test('an order number that is taken is marked, and leads to the order that has it', async (t) => {
  const { app, key } = await build(t)
  const buyer = { ...html, ...(await key('ACME', 'order')) }
  const first = String((await post(app, '/order', { ...line, 'order-number': 'PO-1' }, buyer)).headers['location'])
  const { statusCode, body } = await post(app, '/order', { ...line, 'item.1.quantity': '9', 'order-number': 'PO-1' }, buyer)
  t.equal(statusCode, 409)
  t.match(body, `<a href="${first}" target="_blank">See that order</a>`)
  t.match(body, /<input id="order-number"[^>]* aria-invalid="true"/)
})

t.test('a key that may not order is told so before anything is typed', async (t) => {
  const { app, key } = await build(t)
  const { body } = await app.inject({ url: '/order', headers: { ...html, ...(await key('Seller', 'fulfilment')) } })
  t.match(body, 'your key does not let you place orders')
  t.notMatch(body, 'You order as')
})
