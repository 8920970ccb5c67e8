import t from 'tap'
import { build, draft, orderXml } from '../build.ts'
import { hidden, html, line, placedUri, post } from './form-post.ts'

t.test('a form that is sent twice is not refused because of its own first write', async (t) => {
  const { app, store, key } = await build(t)
  const uri = placedUri(await post(app, '/order', line))
  const tag = String((await app.inject({ url: uri, headers: html })).headers['etag'])
  const fields = { _method: 'PUT', '_if-match': tag, ...line, 'item.1.quantity': '4', 'note.1': 'twice' }
  for (const _time of [1, 2]) t.match(await post(app, uri, fields), { statusCode: 303, headers: { location: uri } })
  t.equal((await store.order(uri.slice('/order/'.length))).version, 2, 'and it is done once')
  const read = String((await app.inject(uri)).headers['etag'])
  const atOnce = { ...fields, '_if-match': read, 'item.1.quantity': '5' }
  for (const answer of await Promise.all([post(app, uri, atOnce), post(app, uri, atOnce)])) t.equal(answer.statusCode, 303, 'at once')
  t.equal((await store.order(uri.slice('/order/'.length))).version, 3)

  const seller = { ...html, ...(await key('Seller', 'catalogue')) }
  const stock = '/product/ABC-1/stock'
  const shown = hidden((await app.inject({ url: stock, headers: seller })).body, '_if-match') ?? ''
  const count = { _method: 'PUT', '_if-match': shown, 'on-hand': '77.50' }
  for (const _time of [1, 2]) t.match(await post(app, stock, count, seller), { statusCode: 303, headers: { location: stock } })
  const recount = { ...count, '_if-match': String((await app.inject(stock)).headers['etag']), 'on-hand': '78' }
  for (const answer of await Promise.all([post(app, stock, recount, seller), post(app, stock, recount, seller)])) {
    t.equal(answer.statusCode, 303, 'at once')
  }
})

t.test('a line is dropped with all that is in it, and what is left of one is asked for', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': {}, 'B-2': {} } })
  const two = { ...line, 'item.1.note.1': 'engrave', 'item.2.product-id': 'B-2', 'item.2.quantity': '1' }
  const uri = placedUri(await post(app, '/order', two))
  const tag = String((await app.inject({ url: uri, headers: html })).headers['etag'])
  const change = { _method: 'PUT', '_if-match': tag, 'item.2.product-id': 'B-2', 'item.2.quantity': '1' }
  const half = await post(app, uri, { ...change, 'item.1.product-id': '', 'item.1.quantity': '', 'item.1.note.1': 'engrave' })
  t.equal(half.statusCode, 422)
  t.match(half.body, '<li>Line 1: <a href="#item.1.product-id">Choose a product for this line, or clear the rest of it.</a></li>')
  t.match(half.body, /<textarea id="item.1.note.1"[^>]*>\s*engrave/)
  const all = await post(app, uri, { ...change, 'item.1.product-id': '', 'item.1.quantity': '', 'item.1.note.1': '' })
  t.equal(all.statusCode, 303)
  const { items } = await store.order(uri.slice('/order/'.length))
  t.same(
    items.map(({ productId, notes }) => [productId, notes]),
    [['B-2', []]]
  )
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
  const [summary] = (await store.orders({ limit: 1 })).items
  t.match(await store.order(summary?.id ?? ''), { requestedDeliveryDate: '2026-12-01Z' })
})

t.test('the lines of an order that is changed show the price that they keep, also of what is no longer sold', async (t) => {
  const { app, store } = await build(t)
  const uri = placedUri(await post(app, '/order', line))
  await store.putProduct('ABC-1', draft({ name: 'Another', price: '11.11' as never }), {})
  await store.deleteProduct('ABC-1', {})
  const { body } = await app.inject({ url: `${uri}?form=change`, headers: html })
  t.match(body, /<li data-line="1" data-product="ABC-1" data-name="[^"]*" data-shown="€9.99 each" data-price="9.99">/)
  t.match(body, /<bdi>[^<]*<\/bdi>, €9.99 each/)
})

t.test('the lines of which something was shipped say how much, and that the order must have as much', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': {}, 'KG-1': { unit: 'KGM' }, 'B-2': {} } })
  const lines = { ...line, 'item.2.product-id': 'KG-1', 'item.2.quantity': '2500.5', 'item.3.product-id': 'B-2', 'item.3.quantity': '2' }
  await store.putStock('KG-1', '9000' as never, {})
  const uri = placedUri(await post(app, '/order', lines))
  const change = () => app.inject({ url: `${uri}?form=change`, headers: html })
  t.notMatch((await change()).body, 'shipped')
  const items = [
    { line: 1, quantity: '2' as never },
    { line: 2, quantity: '1200.5' as never }
  ]
  await store.shipOrder(uri.slice('/order/'.length), { items }, {})
  const { body } = await change()
  t.match(body, /<li data-line="1"[^>]* data-shipped="2">/)
  t.match(body, /<input id="item.1.quantity"[^>]* aria-describedby="item.1.quantity-hint"/)
  t.match(body, '<p class="hint" id="item.1.quantity-hint">2 units shipped: order at least 2.</p>')
  t.match(body, '<p class="hint" id="item.2.quantity-hint">1,200.5 kg shipped: order at least 1,200.5.</p>')
  t.notMatch(body, 'item.3.quantity-hint')
  const refused = await post(app, uri, { _method: 'PUT', '_if-match': hidden(body, '_if-match') ?? '', ...lines, 'item.1.quantity': '1' })
  t.equal(refused.statusCode, 409)
  t.match(refused.body, /aria-describedby="item.1.quantity-error item.1.quantity-hint"[\s\S]*>2 units shipped: order at least 2\.</)
  const other = { ...lines, 'item.1.product-id': 'B-2', _method: 'PUT', _more: '0' }
  t.notMatch((await post(app, uri, other)).body, 'item.1.quantity-hint', 'another product was typed into the line')
})

t.test("after a sign-out the form keeps the input and says so, and is never sent as a guest's", async (t) => {
  const { app, store, key } = await build(t)
  const buyer = { ...html, ...(await key('Müller & Co', 'order')) }
  const uri = placedUri(await post(app, '/order', line, buyer))
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

  const seller = { ...html, ...(await key('Seller', 'catalogue')) }
  const stock = '/product/ABC-1/stock'
  const page = await app.inject({ url: stock, headers: seller })
  const typing = { _method: 'PUT', '_if-match': hidden(page.body, '_if-match') ?? '', 'on-hand': '123', _customer: 'Seller' }
  const count = await post(app, stock, typing)
  t.equal(count.statusCode, 401)
  t.match(count.body, 'value="123"')
  t.match(count.body, 'in another tab')
  const resent = { ...typing, '_if-match': hidden(count.body, '_if-match') ?? '', _customer: hidden(count.body, '_customer') ?? '' }
  t.same(resent, typing, 'the page sends what was typed, for what was read, as who typed it')
  t.equal((await post(app, stock, resent, seller)).statusCode, 303)
  t.equal((await store.stock('ABC-1')).onHand, '123')
})

t.test('a form that is open while somebody signs in goes through', async (t) => {
  const { app, key } = await build(t)
  const uri = placedUri(await post(app, '/order', line))
  const edit = await app.inject({ url: `${uri}?form=change`, headers: html })
  const fields = { _method: 'PUT', '_if-match': hidden(edit.body, '_if-match') ?? '', ...line, 'item.1.quantity': '2' }
  t.equal((await post(app, uri, fields, { ...html, ...(await key('Acme', 'order')) })).statusCode, 303)
})

t.test('a form shows nothing of an order that the caller may not see, and keeps the input', async (t) => {
  const { app, key } = await build(t)
  const buyer = { ...html, ...(await key('Acme', 'order')) }
  const secret = { 'buyer.name': 'SECRET NAME', 'order-number': 'PO-SECRET' }
  const uris = [await post(app, '/order', { ...line, ...secret }), await post(app, '/order', { ...line, ...secret }, buyer)].map(placedUri)
  const others = [await key('Catalogue', 'catalogue'), await key('Two', 'order')]
  for (const [who, uri, status] of [
    [others[0], uris[0], 403],
    [others[0], uris[1], 403],
    [others[1], uris[1], 404]
  ] as const) {
    for (const _method of ['PUT', 'DELETE', 'other']) {
      const { statusCode, body } = await post(
        app,
        uri ?? '',
        { _method, '_if-match': '"x"', ...line, 'note.1': 'typed' },
        { ...html, ...who }
      )
      t.equal(statusCode, _method === 'other' && status === 404 ? 400 : status)
      t.notMatch(body, /SECRET|9\.99/)
      if (_method === 'PUT') t.match(body, /<textarea id="note\.1"[^>]*>\s*typed/)
    }
  }
  const asAcme = { _method: 'PUT', '_if-match': '"x"', _customer: 'Acme', ...line }
  const refused = await post(app, uris[1] ?? '', asAcme, { ...html, ...others[1] })
  t.equal(refused.statusCode, 401)
  t.match(refused.body, 'name="_customer" value="Acme"', 'it is still to be sent as who typed it')
})

t.test('there is no page of more lines than an order may have', async (t) => {
  const { app } = await build(t, { settings: { MAX_ORDER_ITEMS: '5' } })
  const uri = placedUri(await post(app, '/order', line))
  const lines = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`item.${i + 1}.quantity`, '1']))
  for (const [url, more, status] of [
    ['/order', {}, 422],
    ['/order', { _more: '1' }, 422],
    [uri, { _method: 'PUT', '_if-match': '*', _more: '1' }, 422],
    [uri, { _method: 'PUT', '_if-match': '*', _customer: 'nobody' }, 401]
  ] as const) {
    const many = await post(app, url, { ...more, ...lines(6) })
    t.equal(many.statusCode, status)
    t.notMatch(many.body, 'item.6.quantity"')
    t.match((await post(app, url, { ...more, ...lines(5) })).body, 'id="item.5.quantity"')
  }
})

t.test('a page that answers a document has the tag that the same page has when it is asked for, and the same bytes', async (t) => {
  const { app, key } = await build(t)
  const seller = await key('Seller', 'order', 'fulfilment', 'catalogue')
  const asPage = { ...html, ...seller }
  const xml = { 'content-type': 'application/xml' }
  const same = async (answer: { statusCode: number; body: string; headers: Record<string, unknown> }, url: string, status: number) => {
    const page = await app.inject({ url, headers: asPage })
    t.equal(answer.statusCode, status, answer.body)
    t.equal(answer.headers['etag'], page.headers['etag'])
    t.equal(answer.body, page.body)
    t.match(page.body, /name="_if-match" value="&quot;/)
    return { 'if-match': String(page.headers['etag']) }
  }
  const send = (method: 'PUT' | 'POST' | 'DELETE', url: string, headers: object, payload = '') =>
    app.inject({ method, url, headers: { ...asPage, ...xml, ...headers }, payload })
  const placed = await send('POST', '/order', {}, orderXml())
  const uri = String(placed.headers['location'])
  const tag = await same(placed, uri, 201)
  await same(await send('PUT', uri, tag, orderXml().replace('>3<', '>2<')), uri, 200)
  const stock = '/product/ABC-1/stock'
  const counted = { 'if-match': String((await app.inject(stock)).headers['etag']) }
  await same(await send('PUT', stock, counted, '<stock><on-hand>5</on-hand></stock>'), stock, 200)
  const shown = { 'if-match': String((await app.inject({ url: `${uri}/status`, headers: seller })).headers['etag']) }
  await same(await send('PUT', `${uri}/status`, shown, '<order-status><status>shipped</status></order-status>'), `${uri}/status`, 200)
})

t.test('pages with forms of two callers are two representations', async (t) => {
  const { app, key } = await build(t)
  const uri = placedUri(await post(app, '/order', line))
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
  const first = placedUri(await post(app, '/order', { ...line, 'order-number': 'PO-1' }, buyer))
  const { statusCode, body } = await post(app, '/order', { ...line, 'item.1.quantity': '9', 'order-number': 'PO-1' }, buyer)
  t.equal(statusCode, 409)
  t.match(body, `<a href="${first}" target="_blank">See that order</a>`)
  t.match(body, /<input id="order-number"[^>]* aria-invalid="true"/)
  const said = body.match(/You already have an order with the number PO-1[^<]*/g)
  t.same(
    said,
    Array(2).fill('You already have an order with the number PO-1 and other content. Choose another number, or change that order.'),
    'once in the list, and once at its field'
  )
})

t.test('the form says that a key may not order before anything is entered', async (t) => {
  const { app, key } = await build(t)
  const { body } = await app.inject({ url: '/order', headers: { ...html, ...(await key('Seller', 'fulfilment')) } })
  t.match(body, 'your key does not allow you to place orders')
  t.notMatch(body, 'You order as')
})

t.test('the script gets the rule of a product, and the service says which quantities are nearest', async (t) => {
  const rule = { minimumQuantity: '10' as never, quantityStep: '4' as never }
  const { app, store } = await build(t, { products: { 'ABC-1': {}, 'KG-1': { unit: 'KGM' }, 'BOX-4': rule } })
  const blank = (await app.inject({ url: '/order?product=ABC-1&product=KG-1&product=BOX-4', headers: html })).body
  t.same(
    [...blank.matchAll(/data-least="([^"]*)" data-step="([^"]*)"/g)].map(([, least, step]) => [least, step]),
    [
      ['1', '1'],
      ['0.001', '0.001'],
      ['12', '4']
    ]
  )
  t.match((await app.inject({ url: '/product/BOX-4', headers: html })).body, 'From 12 units, in steps of 4 units')
  const wrong = await post(app, '/order', { ...line, 'item.1.quantity': 'three' })
  t.match(wrong.body, /<input id="item.1.quantity"[^>]* value="three"/, 'what is no number comes back all the same')
  const half = await post(app, '/order', { ...line, 'item.1.quantity': '2.5' })
  t.match([half.statusCode, half.body], [422, /ABC-1 is sold in whole units \(C62\) only. Order 2 or 3, not 2.5/])
  const few = await post(app, '/order', { 'item.1.product-id': 'BOX-4', 'item.1.quantity': '8' })
  t.match([few.statusCode, few.body], [422, /of BOX-4 is 10 units \(C62\); this order has 8/])
  const uri = placedUri(await post(app, '/order', line))
  await store.putProduct('ABC-1', draft({ price: '20' as never, ...rule }), {})
  const { body } = await app.inject({ url: `${uri}?form=change`, headers: html })
  t.match(body, /data-price="20" data-least="12" data-step="4">/, 'what more of it costs, for the script')
  t.match(body, /<bdi>Hex bolt<\/bdi>, €9\.99 each, more at €20\.00</, 'and for people')
  t.match(body, 'data-kept="{&quot;ABC-1&quot;:[[&quot;9.99&quot;,&quot;')
})
