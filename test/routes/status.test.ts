import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import { hidden, html, post } from './form-post.ts'

async function placed(shop: Shop): Promise<string> {
  const { headers } = await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml() })
  return String(headers['location'])
}

async function set({ app }: Shop, order: string, status: string, headers: Record<string, string>) {
  const { headers: got } = await app.inject({ url: `${order}/status`, headers })
  const payload = `<order-status><status>${status}</status></order-status>`
  return app.inject({ method: 'PUT', url: `${order}/status`, headers: { ...xml, ...headers, 'if-match': String(got['etag']) }, payload })
}

t.test('an order goes from accepted to shipped to completed, and is then neither changed nor cancelled', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  t.match((await shop.app.inject({ url: order, headers: seller })).body, /rel="ship" href="[^"]*\/status" method="PUT"/)
  const same = await set(shop, order, 'accepted', seller)
  t.match([same.statusCode, same.body], [200, '<status>accepted</status>'], 'the status that it has already changes nothing')
  t.match((await shop.app.inject(order)).body, 'version="1"')
  t.equal((await set(shop, order, 'completed', seller)).statusCode, 409)
  const shipped = await set(shop, order, 'shipped', seller)
  t.match([shipped.statusCode, shipped.body], [200, '<status>shipped</status>'])
  t.match((await shop.app.inject(order)).body, /version="2"[\s\S]*<status>shipped</)
  t.equal((await shop.app.inject({ method: 'DELETE', url: order })).statusCode, 409)
  const read = await shop.app.inject(order)
  const changed = await shop.app.inject({
    method: 'PUT',
    url: order,
    headers: { ...xml, 'if-match': String(read.headers['etag']) },
    payload: orderXml()
  })
  t.match([changed.statusCode, changed.body], [409, 'transition-refused'])
  t.equal((await set(shop, order, 'completed', seller)).statusCode, 200)
})

t.test('with ACCEPTANCE=manual an order waits as received; rejecting gives its stock back', async (t) => {
  const shop = await build(t, { settings: { ACCEPTANCE: 'manual' } })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  t.match((await shop.app.inject(order)).body, '<status>received</status>')
  t.equal((await shop.store.stock('ABC-1')).onHand, '99')
  const rejected = await set(shop, order, 'rejected', seller)
  t.match([rejected.statusCode, rejected.body], [200, '<status>rejected</status>'])
  t.equal((await shop.store.stock('ABC-1')).onHand, '100')
  t.equal((await shop.app.inject({ method: 'DELETE', url: order })).statusCode, 409, 'a rejected order is not cancelled')
  t.equal((await set(shop, await placed(shop), 'accepted', seller)).statusCode, 200)
})

t.test('a status is replaced only with If-Match, and only by the version that was read', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const put = (headers: Record<string, string>) =>
    shop.app.inject({
      method: 'PUT',
      url: `${order}/status`,
      headers: { ...xml, ...seller, ...headers },
      payload: '<order-status><status>shipped</status></order-status>'
    })
  t.equal((await put({})).statusCode, 428)
  t.equal((await put({ 'if-match': '"old"' })).statusCode, 412)
  const { headers } = await shop.app.inject({ url: `${order}/status`, headers: seller })
  const shipped = await put({ 'if-match': String(headers['etag']) })
  t.equal(shipped.statusCode, 200)
  for (const again of [
    { 'if-match': String(headers['etag']) },
    { 'if-match': '*' },
    {},
    { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
  ]) {
    const repeated = await put(again)
    t.match([repeated.statusCode, repeated.headers['etag']], [200, shipped.headers['etag']], `what is so already: ${JSON.stringify(again)}`)
  }
  t.equal((await put({ 'if-match': 'x' })).statusCode, 400)
  t.equal((await put({ 'if-none-match': '*' })).statusCode, 412, 'there is a status (RFC 9110 13.1.2)')
})

t.test('a cancellation that is repeated is answered as the first was, also with the tag that it was sent with', async (t) => {
  const shop = await build(t)
  const order = await placed(shop)
  const { headers } = await shop.app.inject(order)
  const cancel = (condition: Record<string, string>) => shop.app.inject({ method: 'DELETE', url: order, headers: { ...xml, ...condition } })
  t.equal((await cancel({ 'if-match': '"old"' })).statusCode, 412)
  const first = await cancel({ 'if-match': String(headers['etag']) })
  t.equal(first.statusCode, 200)
  for (const again of [{ 'if-match': String(headers['etag']) }, {}]) {
    const repeated = await cancel(again)
    t.same([repeated.statusCode, repeated.body, repeated.headers['etag']], [200, first.body, first.headers['etag']])
  }
  t.equal((await shop.store.stock('ABC-1')).onHand, '100', 'the stock came back once')
})

t.test('GET, edit, PUT works on the bytes that GET gave, for status and stock, in XML and JSON', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment', 'catalogue', 'order')
  const order = await placed(shop)
  for (const type of ['application/xml', 'application/json']) {
    for (const url of [`${order}/status`, '/product/ABC-1/stock', '/product/ABC-1', order]) {
      const got = await shop.app.inject({ url, headers: { ...seller, accept: type } })
      const put = await shop.app.inject({
        method: 'PUT',
        url,
        headers: { ...seller, accept: type, 'content-type': type, 'if-match': String(got.headers['etag']) },
        payload: got.body
      })
      t.equal(put.statusCode, 200, `${url} ${type} ${put.body}`)
    }
  }
})

t.test('the seller cancels the order of a customer by the link to its status, and the customer by the link to the order', async (t) => {
  const shop = await build(t)
  const [seller, buyer] = [await shop.key('ERP', 'fulfilment'), await shop.key('acme', 'order')]
  const { headers } = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...buyer }, payload: orderXml() })
  const order = String(headers['location'])
  const read = async (url: string, key: Record<string, string>, accept = 'application/xml') =>
    (await shop.app.inject({ url, headers: { ...key, accept } })).body
  const byStatus = `<link rel="cancel" href="${order}/status" method="PUT"/>`
  const byOrder = `<link rel="cancel" href="${order}" method="DELETE"/>`
  for (const url of [order, `${order}/status`]) {
    t.match(await read(url, seller), byStatus)
    t.notMatch(await read(url, buyer), byStatus)
  }
  t.notMatch(await read(order, seller), byOrder)
  t.match(await read(order, buyer), byOrder)
  t.match(await read(order, buyer, 'text/html'), 'Cancel this order')
  t.notMatch(await read(order, seller, 'text/html'), 'Cancel this order', 'the page has no form that would be refused')
  t.equal((await set(shop, order, 'cancelled', seller)).statusCode, 200)
  t.notMatch(await read(order, seller), 'rel="cancel"')
})

t.test('a status tells the buyer a date and a note, of the order and of its lines', async (t) => {
  const shop = await build(t, { settings: { ACCEPTANCE: 'manual' }, products: { 'ABC-1': {}, 'ABC-2': {} } })
  const seller = await shop.key('ERP', 'fulfilment', 'order')
  const payload = orderXml({ 'ABC-1': 1, 'ABC-2': 2 })
  const order = String((await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload })).headers['location'])
  const put = async (content: string, more: Record<string, string> = {}) => {
    const { headers } = await shop.app.inject({ url: `${order}/status`, headers: seller })
    const sent = { ...xml, ...seller, 'if-match': String(headers['etag']), ...more }
    return shop.app.inject({ method: 'PUT', url: `${order}/status`, headers: sent, payload: `<order-status>${content}</order-status>` })
  }
  const details =
    '<status>accepted</status><expected-delivery-date>2026-12-01</expected-delivery-date><note>Thanks &amp; bye</note><item line="2"><expected-delivery-date>2026-12-24</expected-delivery-date><note>Late</note></item>'
  const accepted = await put(details)
  t.equal(accepted.statusCode, 200)
  t.match(accepted.body, /<expected-delivery-date>2026-12-01<[\s\S]*<note>Thanks &amp; bye<[\s\S]*<item line="2">[\s\S]*2026-12-24/)
  t.same(await faultsByPublishedSchema(shop.app, accepted.body), [])
  const read = await shop.app.inject(order)
  t.match(read.body, /version="2"[\s\S]*<expected-delivery-date>2026-12-01<[\s\S]*<seller-note>Thanks &amp; bye<[\s\S]*<seller-note>Late</)
  t.same(await faultsByPublishedSchema(shop.app, read.body), [])
  const page = await shop.app.inject({ url: order, headers: { accept: 'text/html' } })
  t.match(page.body, /Expected delivery[\s\S]*1 Dec 2026[\s\S]*Thanks &amp; bye[\s\S]*Expected on[\s\S]*24 Dec 2026[\s\S]*Late/)

  t.equal((await put(details, { 'if-match': '"old"' })).statusCode, 200, 'the same once more changes nothing')
  t.equal((await put('<status>accepted</status>', { 'if-match': '"old"' })).statusCode, 200)
  t.equal((await put('<status>accepted</status><note>New</note>', { 'if-match': '"old"' })).statusCode, 412)
  t.match((await shop.app.inject(order)).body, 'version="2"')
  const unknown = await put('<status>accepted</status><item line="1"/><item line="3"/>')
  t.match([unknown.statusCode, unknown.body], [422, /invalid-status[\s\S]*no line 3/])
  const other = await put('<status>shipped</status><note/>')
  t.match([other.statusCode, other.body], [200, '<status>shipped</status>'])
  t.notMatch(other.body, '<note>Thanks')
  t.match((await shop.app.inject(`${order}/shipments`)).body, '<item-count>2<', 'what the status ships is a shipment')
  for (const wrong of ['<expected-delivery-date>soon</expected-delivery-date>', `<note>${'n'.repeat(4001)}</note>`, '<item/>']) {
    t.equal((await put(`<status>completed</status>${wrong}`)).statusCode, 422, wrong.slice(0, 40))
  }
})

t.test('notes that are too long together are refused, and the order can be read as before', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('200') } } })
  const seller = await shop.key('ERP', 'fulfilment')
  const items = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  const { headers } = await shop.app.inject({
    method: 'POST',
    url: '/order',
    headers: xml,
    payload: `<purchase-order>${items.repeat(126)}</purchase-order>`
  })
  const order = String(headers['location'])
  const put = (lines: readonly number[]) => {
    const notes = lines.map((line) => `<item line="${line}"><note>${'x'.repeat(4000)}</note></item>`)
    const payload = `<order-status><status>accepted</status>${notes.join('')}</order-status>`
    return shop.app.inject({ method: 'PUT', url: `${order}/status`, headers: { ...xml, ...seller, 'if-match': '*' }, payload })
  }
  const all = Array.from({ length: 126 }, (_, i) => i + 1)
  t.equal((await put(all.slice(0, 100))).statusCode, 200)
  const refused = await put(all.slice(100))
  t.match([refused.statusCode, refused.body], [422, /would have 504000 characters\. At most 500000 are allowed/])
  t.match((await shop.app.inject(order)).body, 'version="2"')
  t.equal((await put(all.slice(100, 125))).statusCode, 200)
})

t.test('the details of a status come back as they went in, in XML and JSON, and the buyer who changes the order keeps them', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment', 'order')
  const order = await placed(shop)
  const details = { expectedDeliveryDate: '2026-12-01', note: 'For you', item: [{ line: '1', note: 'Blue' }] }
  const { headers } = await shop.app.inject({ url: `${order}/status`, headers: seller })
  const sent = { ...seller, 'if-match': String(headers['etag']) }
  const put = await shop.app.inject({ method: 'PUT', url: `${order}/status`, headers: sent, payload: { status: 'accepted', ...details } })
  t.match([put.statusCode, put.json()], [200, { status: 'accepted', ...details }])
  for (const type of ['application/xml', 'application/json']) {
    for (const url of [`${order}/status`, order]) {
      const got = await shop.app.inject({ url, headers: { ...seller, accept: type } })
      const condition = { 'content-type': type, 'if-match': String(got.headers['etag']) }
      const again = await shop.app.inject({ method: 'PUT', url, headers: { ...seller, accept: type, ...condition }, payload: got.body })
      t.match([again.statusCode, again.body], [200, /For you[\s\S]*Blue/], `${url} ${type}`)
    }
  }
})

t.test('the seller sets the date and the note in the form of the status', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const read = async () => (await shop.app.inject({ url: `${order}/status`, headers: { ...html, ...seller } })).body
  const fields = { _method: 'PUT', '_if-match': hidden(await read(), '_if-match') ?? '', status: 'accepted' }
  const sent = await post(
    shop.app,
    `${order}/status`,
    { ...fields, 'expected-delivery-date': '2026-12-01', note: 'Soon' },
    { ...html, ...seller }
  )
  t.equal(sent.statusCode, 303)
  t.match(await read(), /value="2026-12-01"[\s\S]*>\nSoon<\/textarea>/)
  t.match((await shop.app.inject(order)).body, '<seller-note>Soon</seller-note>')
})

t.test('the buttons that end the order send the form of the date and the note, which keeps what was typed if it is refused', async (t) => {
  const shop = await build(t, { settings: { ACCEPTANCE: 'manual' } })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  const read = async () => (await shop.app.inject({ url: `${order}/status`, headers: { ...html, ...seller } })).body
  const before = { _method: 'PUT', '_if-match': hidden(await read(), '_if-match') ?? '' }
  const put = (fields: Record<string, string>) => post(shop.app, `${order}/status`, { ...before, ...fields }, { ...html, ...seller })
  t.equal((await put({ status: 'received', note: 'Please wait' })).statusCode, 303)
  const refused = await put({ status: 'rejected', note: 'Too far', 'expected-delivery-date': '2026-12-01' })
  t.equal(refused.statusCode, 412)
  const notes = Array.from(refused.body.matchAll(/<textarea id="([^"]*)" name="note"[^>]*>\n([^<]*)/g), ([, ...note]) => note)
  t.same(notes, [['note', 'Too far']], 'there is one note, so that none is typed in vain')
  t.match(refused.body, 'value="2026-12-01"')
  t.match(refused.body, /<details class="confirm" open><summary>Reject[\s\S]*<details class="confirm"><summary>Cancel/)
  for (const status of ['rejected', 'cancelled']) t.match(refused.body, `form="details" name="status" value="${status}"`)
  const again = await put({ '_if-match': hidden(refused.body, '_if-match') ?? '', status: 'rejected', note: 'Too far' })
  t.equal(again.statusCode, 303)
  t.match((await shop.app.inject(order)).body, /<status>rejected<[\s\S]*<seller-note>Too far</)
})

t.test('the first button of the form, which Enter presses, leaves the status as it is', async (t) => {
  const shop = await build(t, { settings: { ACCEPTANCE: 'manual' } })
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placed(shop)
  for (const status of ['received', 'accepted', 'shipped', 'completed']) {
    if (status !== 'received') t.equal((await set(shop, order, status, seller)).statusCode, 200)
    const { body } = await shop.app.inject({ url: `${order}/status`, headers: { ...html, ...seller } })
    const form = body.slice(body.indexOf('id="details"'))
    t.match(/<button[^>]* name="status" value="(\w+)"/.exec(form)?.[1], status)
  }
})
