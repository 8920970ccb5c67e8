import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { build } from '../build.ts'
import { hidden, html, post as postForm } from './form-post.ts'
import { type Headers, line, placed, products, ship } from './shipping.ts'

t.test('a page shows what was shipped, and the seller ships from a form', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const page = (url: string, headers: Headers = seller) => shop.app.inject({ url, headers: { ...headers, accept: 'text/html' } })
  await ship(shop, order, `<shipment><tracking-uri>https://dhl.example/T&amp;1</tracking-uri>${line(1, 3)}</shipment>`, seller)
  const seen = await page(order, {})
  t.match(
    seen.body,
    /Shipped in part[\s\S]*3 shipped, 1 to come[\s\S]*Shipment 1[\s\S]*href="https:\/\/dhl.example\/T&amp;1" rel="noreferrer noopener"[\s\S]*3 units <bdi>Hex bolt<\/bdi>/
  )
  t.notMatch((await page(`${order}/shipments`, {})).body, '<form')
  for (const url of [`${order}/status`, `${order}/shipments`]) t.match((await page(url)).body, `action="${order}/shipments"`)

  const tag = hidden((await page(`${order}/status`)).body, '_if-match') ?? ''
  const fields = { '_if-match': tag, '_idempotency-key': tag, carrier: 'DHL', 'tracking-number': '', 'tracking-uri': 'ftp://x' }
  const post = (more: Readonly<Record<string, string>>) =>
    postForm(shop.app, `${order}/shipments`, { ...fields, ...more }, { ...html, ...seller })
  const refused = await post({})
  t.match([refused.statusCode, refused.body], [422, /value="DHL"[\s\S]*value="ftp:\/\/x"[\s\S]*class="wrong"/])
  for (const _ of [1, 2]) {
    const sent = await post({ 'tracking-uri': 'http://x.example/' })
    t.match([sent.statusCode, sent.headers['location']], [303, `${order}/shipment/2#done`], 'also when it is sent twice')
  }
  const stale = await post({ '_idempotency-key': 'other', 'tracking-uri': '' })
  t.match([stale.statusCode, stale.body], [412, 'Somebody else changed the order'])
  t.match((await page(`${order}/shipment/2`)).body, /by <bdi>DHL<\/bdi>[\s\S]*Track it[\s\S]*ABC-2/)
  t.match((await page(order)).body, /Shipment 2[\s\S]*Shipment 1/)
})

t.test('the list of orders says which were shipped in part', async (t) => {
  const shop = await build(t, { products })
  const [seller, buyer] = [await shop.key('ERP', 'fulfilment'), await shop.key('ACME', 'order')]
  const order = await placed(shop, buyer)
  const listed = async (headers: Headers) => (await shop.app.inject({ url: '/orders', headers: { ...html, ...headers } })).body
  t.notMatch(await listed(seller), 'Shipped in part')
  await ship(shop, order, `<shipment>${line(1, 3)}</shipment>`, seller)
  for (const headers of [seller, buyer]) t.match(await listed(headers), />Accepted<\/a> <span class="partly">Shipped in part</)
  await ship(shop, order, '<shipment/>', seller)
  t.match(await listed(seller), />Shipped<\/a><\/td>/)
})

t.test('a form that asks for quantities and has none ships nothing, and is shown again as it was typed', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const form = await shop.app.inject({ url: `${order}/shipments`, headers: { ...html, ...seller } })
  const given = hidden(form.body, '_lines')
  t.equal(given, 'given')
  const empty = { _lines: String(given), carrier: 'DHL', 'item.1.quantity': '', 'item.2.quantity': ' ' }
  const refused = await postForm(shop.app, `${order}/shipments`, empty, { ...html, ...seller })
  t.match([refused.statusCode, refused.body], [422, /at least one line[\s\S]*value="DHL"/])
  const sent = await postForm(shop.app, `${order}/shipments`, { ...empty, 'item.2.quantity': '1' }, { ...html, ...seller })
  t.match([sent.statusCode, sent.headers['location']], [303, `${order}/shipment/1#done`], 'the refused one is no shipment')
})

t.test('the form names each line, and its errors are listed with links to their fields', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const items = [1, 2, 3].map((number) => ({
    productId: 'ABC-1',
    quantity: '3',
    ...(number === 2 ? { lineId: '20', note: ['red <one>'] } : {})
  }))
  const placed = await shop.app.inject({ method: 'POST', url: '/order', payload: { item: items } })
  const order = String(placed.headers['location'])
  const { body } = await shop.app.inject({ url: `${order}/shipments`, headers: { ...seller, accept: 'text/html' } })
  t.same(
    Array.from(body.matchAll(/<label for="item\.\d\.quantity">(.*?)<\/label>/g), ([, label]) => label),
    ['Line 1 · ABC-1 · <bdi>Hex bolt</bdi>', 'Line 2 · ABC-1 · <bdi>Hex bolt</bdi>', 'Line 3 · ABC-1 · <bdi>Hex bolt</bdi>']
  )
  t.match(body, /aria-describedby="item\.2\.quantity-left item\.2\.quantity-about"/)
  t.match(body, /id="item\.2\.quantity-about">Buyer’s line <bdi>20<\/bdi>\n<bdi>red &lt;one&gt;<\/bdi></)

  const [tag, key] = [hidden(body, '_if-match') ?? '', hidden(body, '_idempotency-key') ?? '']
  const fields = { _lines: 'given', '_if-match': tag, '_idempotency-key': key }
  const listed = async (more: Readonly<Record<string, string>>) => {
    const refused = await postForm(shop.app, `${order}/shipments`, { ...fields, ...more }, { ...html, ...seller })
    const notice = /<div class="notice problem"[\s\S]*?<\/div>/.exec(refused.body)?.[0] ?? ''
    return [
      refused.statusCode,
      /<strong>([^<]*)/.exec(notice)?.[1],
      ...Array.from(notice.matchAll(/<li>(.*?)<\/li>/g), ([, error]) => error)
    ]
  }
  t.same(await listed({ 'item.1.quantity': '99', 'item.2.quantity': '1.5' }), [
    422,
    'The shipment has errors',
    '<a href="#item.1.quantity">Line 1 (ABC-1) has only 3 units left to ship, not 99.</a>',
    '<a href="#item.2.quantity">Line 2 is counted in whole units (C62): 1.5 of it cannot be shipped.</a>'
  ])
  t.same(await listed({ 'item.3.quantity': 'abc', 'tracking-uri': 'ftp://x' }), [
    422,
    'The shipment has errors',
    'Line 3: <a href="#item.3.quantity">Quantity is &quot;abc&quot;; it must be a number above 0 with up to 9 digits and up to 3 fraction digits, such as 3 or 2.5.</a>',
    '<a href="#tracking-uri">Link to the tracking page is &quot;ftp://x&quot;; it must be a web address (https or http) of up to 2,000 characters.</a>'
  ])
  t.same(await listed({}), [422, 'The shipment does not fit the order'])
})

t.test('when the buyer cancels the order before the form that ships it is sent, the page says so, and shows the status', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  for (const [part, title, status] of [
    [undefined, 'The order was cancelled in the meantime', 'Cancelled'],
    [line(1, 1), 'The rest of the order was cancelled in the meantime', 'Shipped']
  ] as const) {
    const order = await placed(shop)
    if (part) await ship(shop, order, `<shipment>${part}</shipment>`, seller)
    const { body } = await shop.app.inject({ url: `${order}/shipments`, headers: { ...html, ...seller } })
    t.match(body, '<span class="state accepted">Accepted</span>')
    const fields = Object.fromEntries(['_if-match', '_idempotency-key', '_lines'].map((name) => [name, hidden(body, name) ?? '']))
    t.equal((await shop.app.inject({ method: 'DELETE', url: order })).statusCode, 200)
    const sent = await postForm(shop.app, `${order}/shipments`, { ...fields, 'item.1.quantity': '1' }, { ...html, ...seller })
    t.match([sent.statusCode, sent.body], [412, `<strong>${title}</strong>`])
    t.match(sent.body, `>${status}</span>`)
    t.notMatch(sent.body, /send your change again|shipped yet/)
  }
})

t.test('a form that is sent again with other quantities is told what it shipped, and shows what is left', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  await ship(shop, order, `<shipment>${line(2, 1)}</shipment>`, seller)
  const { body } = await shop.app.inject({ url: `${order}/status`, headers: { ...html, ...seller } })
  const fields = Object.fromEntries(['_if-match', '_idempotency-key', '_lines'].map((name) => [name, hidden(body, name) ?? '']))
  const send = (quantity: string) =>
    postForm(shop.app, `${order}/shipments`, { ...fields, 'item.1.quantity': quantity, carrier: 'DHL' }, { ...html, ...seller })
  for (const _ of [1, 2]) t.match(await send('3'), { statusCode: 303, headers: { location: `${order}/shipment/2` } })
  const again = await send('2')
  t.equal(again.statusCode, 422)
  t.match(
    again.body,
    /<strong>This form was sent already<[\s\S]*It made shipment 2, which is listed below. Nothing more was shipped now. The form shows what is left./
  )
  t.match(again.body, /id="item\.1\.quantity" name="item\.1\.quantity" value="1"/)
  t.notMatch(again.body, /idempotency key was|new key/i)
  const next = Object.fromEntries(['_if-match', '_idempotency-key', '_lines'].map((name) => [name, hidden(again.body, name) ?? '']))
  const rest = await postForm(shop.app, `${order}/shipments`, { ...next, 'item.1.quantity': '1' }, { ...html, ...seller })
  t.match(rest, { statusCode: 303, headers: { location: `${order}/shipment/3` } })
})

t.test('the page of a shipment names its order, and where it goes', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const buyer = { name: 'Acme & Sons', address: { city: 'Town', postalCode: '12345', country: 'DE' } }
  const item = [{ productId: 'ABC-1', quantity: '2' }]
  const shipped = async (order: object) => {
    const { headers } = await shop.app.inject({ method: 'POST', url: '/order', payload: { item, ...order } })
    const uri = String(headers['location'])
    await ship(shop, uri, '<shipment/>', seller)
    return `${uri}/shipment/1`
  }
  const page = (url: string, tag = '') => shop.app.inject({ url, headers: { ...html, ...seller, ...(tag && { 'if-none-match': tag }) } })
  const numbered = await shipped({ orderNumber: 'PO-<3>', buyer })
  const { body, headers } = await page(numbered)
  t.match(body, '<title>Shipment 1 of order PO-&lt;3&gt; · Tradepost</title>')
  t.match(body, '<h1>Shipment 1 of order <bdi>PO-&lt;3&gt;</bdi></h1>')
  t.match(body, /<h2>Buyer<\/h2>\s*<address><bdi>Acme &amp; Sons<\/bdi>\n<bdi>12345<\/bdi> <bdi>Town<\/bdi>\n<bdi>DE<\/bdi><\/address>/)
  t.equal((await page(numbered, String(headers['etag']))).statusCode, 304)
  t.match(
    (await page(await shipped({ buyer, shipTo: { name: 'Depot' } }))).body,
    /<h2>Ship to<\/h2>\s*<address><bdi>Depot<\/bdi><\/address>/
  )
  const plain = await shipped({})
  const short = plain.split('/')[2]?.slice(0, 8)
  t.match((await page(plain)).body, `<h1>Shipment 1 of order <bdi>${short}</bdi></h1>`)
  const many = Array.from({ length: 40 }, () => ({ productId: 'ABC-1', quantity: '1', note: ['x'.repeat(1000)] }))
  t.match((await page(await shipped({ item: many, buyer }))).body, 'This order is large: the address is on')
})

t.test('the links of an order say what they lead to: the seller’s action while there is one, or only a page to see', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const linksOf = async (headers: Headers) => {
    const { body } = await shop.app.inject({ url: order, headers: { ...html, ...headers } })
    const actions = body.slice(body.indexOf('aria-label="Actions"'))
    return ['status', 'shipments'].map((name) => new RegExp(`href="${order}/${name}">([^<]*)<`).exec(actions)?.[1])
  }
  t.same(await linksOf(seller), ['Change the status', 'Ship this order'])
  t.same(await linksOf({}), ['See the status', undefined])
  await ship(shop, order, '<shipment/>', seller)
  t.same(await linksOf(seller), ['Change the status', 'See the shipments'])
  t.same(await linksOf({}), ['See the status', 'See the shipments'])
  await shop.store.setOrderStatus(order.slice('/order/'.length), 'completed', {})
  t.same(await linksOf(seller), ['See the status', 'See the shipments'])
})

t.test('a shipment that is made is answered also if its order cannot be read again', async (t) => {
  const shop = await build(t, { products })
  const seller = { ...html, ...(await shop.key('ERP', 'fulfilment')) }
  const order = await placed(shop)
  const { shipOrder, orderHead } = shop.store
  shop.store.shipOrder = async (...given) => {
    const made = await shipOrder(...given)
    shop.store.orderHead = () => Promise.reject(new DomainError('store-unavailable', 'The database cannot be reached.'))
    return made
  }
  t.match(await ship(shop, order, `<shipment>${line(1, 3)}</shipment>`, seller), {
    statusCode: 201,
    headers: { location: `${order}/shipment/1`, 'content-type': /html/ },
    body: '3 units'
  })
  shop.store.orderHead = orderHead
  t.equal((await shop.store.shipments(order.replace('/order/', ''), { limit: 5 })).items.length, 1)
})
