import t from 'tap'
import { textOf } from '../../domain/deferred.ts'
import { mostBytes } from '../../http/problem-size.ts'
import { browserForm, build, type Shop, xml } from '../build.ts'
import { watchParses } from '../parses.ts'
import { placedUri } from './form-post.ts'

const html = { accept: 'text/html' }
const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
const manyProducts = { 'ABC-1': { onHand: '1000000' as never } }

async function placeLarge({ app }: Shop, lines = 1_000): Promise<string> {
  const payload = `<purchase-order><order-number>L-1</order-number>${line.repeat(lines)}</purchase-order>`
  const response = await app.inject({ method: 'POST', url: '/order', headers: xml, payload })
  t.equal(response.statusCode, 201, response.body.slice(0, 500))
  return String(response.headers.location)
}

function fields(lines: number, more: Readonly<Record<string, string>> = {}, id = 'ABC-1'): string {
  const items = Array.from({ length: lines }, (_, i) => [
    [`item.${i + 1}.product-id`, id],
    [`item.${i + 1}.quantity`, '1']
  ]).flat()
  return new URLSearchParams([...items, ...Object.entries(more)] as [string, string][]).toString()
}

t.test('the page of a large order is paged by its lines, and each page has its own strong tag', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { app } = shop
  const order = await placeLarge(shop, 450)
  const tags = new Set<unknown>()
  for (const [page, first, last] of [
    [1, 1, 200],
    [2, 201, 400],
    [3, 401, 450]
  ] as const) {
    const url = page === 1 ? order : `${order}?page=${page}`
    const { statusCode, headers, body } = await app.inject({ url, headers: html })
    t.equal(statusCode, 200)
    t.match(headers.etag, /^"/)
    tags.add(headers.etag)
    t.equal(body.match(/<tr><th scope="row"><a/g)?.length, last - first + 1)
    t.match(body, `lines ${first} to ${last} of 450`)
    t.match(body, /Total<\/th>.*4,?495\.50/s, 'the total of the whole order')
    t.match(body, 'L-1', 'and its header')
    t.equal(/rel="prev" href="([^"]*)"/.exec(body)?.[1], [undefined, order, `${order}?page=2`][page - 1])
    t.equal(/rel="next" href="([^"]*)"/.exec(body)?.[1], [`${order}?page=2`, `${order}?page=3`, undefined][page - 1])
    const again = await app.inject({ url, headers: { ...html, 'if-none-match': String(headers.etag) } })
    t.equal(again.statusCode, 304)
  }
  t.equal(tags.size, 3)
  t.equal((await app.inject({ url: `${order}?page=0`, headers: html })).statusCode, 400)
  t.equal((await app.inject({ url: `${order}?page=99`, headers: html })).statusCode, 200)
  const document = await app.inject({ url: `${order}?page=2`, headers: { accept: 'application/xml' } })
  t.equal(document.body.match(/<item /g)?.length, 450, 'a document has all lines')
})

t.test('an order that fits on one page has no pages', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { body } = await shop.app.inject({ url: await placeLarge(shop, 200), headers: html })
  t.notMatch(body, 'aria-label="Pages"')
  t.equal(body.match(/<tr><th scope="row"><a/g)?.length, 200)
})

t.test('no large order is parsed in the thread that serves when it is read', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { app } = shop
  const seller = await shop.key('ERP', 'fulfilment')
  const order = await placeLarge(shop, 2_000)
  const parsed = watchParses(t)
  t.ok(textOf(await shop.store.order(order.slice('/order/'.length))), 'it is kept as text')
  for (const accept of ['application/xml', 'application/json', 'text/html']) {
    for (const url of [order, `${order}/status`, `${order}?form=change`, `${order}?form=again`]) {
      t.equal((await app.inject({ url, headers: { accept } })).statusCode, 200, `${url} as ${accept}`)
    }
  }
  t.equal((await app.inject({ url: '/orders', headers: { ...seller, ...html } })).statusCode, 200)
  const refused = await app.inject({ method: 'POST', url: order, headers: browserForm, payload: '_method=DELETE&_if-match="x"' })
  t.equal(refused.statusCode, 412)
  t.same(parsed, [])
})

t.test('a large form that is sent twice succeeds twice, and the serving thread does not compare it', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { app, store } = shop
  for (const [title, lines, notes] of [
    ['both are large', 1_000, 20],
    ['the order is large, and what is sent is small', 400, 0]
  ] as const) {
    const payload = fields(lines, Object.fromEntries(Array.from({ length: notes }, (_, i) => [`note.${i + 1}`, 'x'.repeat(3_900)])))
    const placed = await app.inject({ method: 'POST', url: '/order', headers: browserForm, payload })
    const uri = placedUri(placed)
    const id = uri.slice('/order/'.length)
    t.ok(textOf(await store.order(id)), title)
    const tag = async () => String((await app.inject(uri)).headers.etag)
    const put = (more: string, ifMatch: string) =>
      app.inject({
        method: 'POST',
        url: uri,
        headers: browserForm,
        payload: `${payload}&_method=PUT&_if-match=${encodeURIComponent(ifMatch)}&${more}`
      })
    const read = await tag()
    const first = await put('order-number=L-2', read)
    const parsed = watchParses(t)
    const second = await put('order-number=L-2', read)
    t.same(parsed, [], title)
    for (const answer of [first, second]) t.match(answer, { statusCode: 303, headers: { location: `${uri}#done` } })
    t.equal((await store.order(id)).version, 2, 'it is done once')
    const atOnce = await tag()
    for (const answer of await Promise.all([put('order-number=L-3', atOnce), put('order-number=L-3', atOnce)])) {
      t.equal(answer.statusCode, 303, 'at once')
    }
    t.equal((await store.order(id)).version, 3)
    t.equal((await put('order-number=L-4', read)).statusCode, 412, 'a change of an older version is refused')
  }
})

t.test('an order that is too large for a form says how it is changed', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const order = await placeLarge(shop, 101)
  const { body } = await shop.app.inject({ url: `${order}?form=change`, headers: html })
  t.notMatch(body, 'value="PUT"')
  t.notMatch(body, '>Change this order<')
  t.match(body, /too large for a form.*<code>PUT<\/code>/s)
  const small = await placeLarge(shop, 100)
  t.match((await shop.app.inject({ url: small, headers: html })).body, '>Change this order<')
  t.match((await shop.app.inject({ url: `${small}?form=change`, headers: html })).body, 'value="PUT"')
})

t.test('a form that is refused comes back in 64 KiB; one that comes back in part cannot be sent', async (t) => {
  const { app } = await build(t, { products: manyProducts })
  const refuse = (payload: string) => app.inject({ method: 'POST', url: '/order', headers: browserForm, payload })
  for (const [title, payload] of Object.entries({
    '500 lines': fields(500, {}, 'NONE'),
    '9,000 lines': fields(9_000, {}, 'NONE'),
    '100,000 notes': Array.from({ length: 100_000 }, (_, i) => `note.${i}=x`).join('&'),
    'long notes': fields(3, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`note.${i + 1}`, '"<&'.repeat(1_000)])), 'NONE')
  })) {
    const response = await refuse(payload)
    t.match(response.statusCode, /^4\d\d$/, title)
    t.ok(response.rawPayload.length <= mostBytes, `${title}: ${response.rawPayload.length} bytes`)
    t.notMatch(response.body, '<button>Place the order', title)
  }
  const some = await refuse(fields(500, {}, 'NONE'))
  t.match(some.body, 'Some of your lines are not shown')
  t.match(some.body, 'id="item.1.product-id"')
  const few = await refuse(fields(20, {}, 'NONE'))
  t.equal(few.statusCode, 422)
  t.notMatch(few.body, 'Some of your lines are not shown')
  t.match(few.body, '<button>Place the order')
  t.match(few.body, 'id="item.20.product-id"')
})

t.test('more lines are added to a form as long as a page has room for them', async (t) => {
  const { app } = await build(t, { products: manyProducts })
  const more = (lines: number) =>
    app.inject({ method: 'POST', url: '/order', headers: browserForm, payload: fields(lines, { _more: '5' }) })
  const page = await more(90)
  t.equal(page.statusCode, 200)
  t.match(page.body, 'id="item.95.product-id"')
  const refused = await more(101)
  t.equal(refused.statusCode, 422)
  t.match(refused.body, 'more lines than a page has room for')
  t.ok(refused.rawPayload.length <= mostBytes)
  t.equal(
    (await app.inject({ method: 'POST', url: '/order', headers: browserForm, payload: fields(101) })).statusCode,
    303,
    'it is placed all the same'
  )
})

t.test('no large order is parsed in the thread that serves when it is placed, changed, shipped or cancelled', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { app } = shop
  const seller = await shop.key('ERP', 'fulfilment')
  const parsed = watchParses(t)
  const order = await placeLarge(shop, 2_000)
  const { etag } = (await app.inject(order)).headers
  const payload = `<purchase-order>${line.repeat(1_900)}</purchase-order>`
  const changed = await app.inject({ method: 'PUT', url: order, headers: { ...xml, 'if-match': String(etag) }, payload })
  t.equal(changed.statusCode, 200)
  const { headers } = await app.inject({ url: `${order}/status`, headers: seller })
  const shipped = await app.inject({
    method: 'PUT',
    url: `${order}/status`,
    headers: { ...xml, ...seller, 'if-match': String(headers.etag) },
    payload: '<order-status><status>shipped</status></order-status>'
  })
  t.equal(shipped.statusCode, 200, shipped.body)
  t.equal((await app.inject({ method: 'DELETE', url: await placeLarge(shop, 2_000) })).statusCode, 200)
  const buyer = await shop.key('acme', 'order')
  const place = (lines: number, content: string) => {
    const document = `<purchase-order><order-number>L-2</order-number>${content.repeat(lines)}</purchase-order>`
    return app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...buyer }, payload: document })
  }
  const statuses = [await place(2_000, line), await place(1, line), await place(2_000, line)].map(({ statusCode }) => statusCode)
  t.same(statuses, [201, 409, 200], 'nor when its number comes again')
  t.same(parsed, [])
})

t.test('no large order, status or shipment is parsed in the thread that serves when the order is shipped', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never, unit: 'KGM' } } })
  const { app } = shop
  const seller = await shop.key('ERP', 'fulfilment')
  const lines = 2_000
  const order = await placeLarge(shop, lines)
  const parsed = watchParses(t)
  const { headers } = await app.inject({ url: `${order}/status`, headers: seller })
  const items = (content: string) => Array.from({ length: lines }, (_, i) => `<item line="${i + 1}">${content}</item>`).join('')
  const status = `<order-status><status>accepted</status>${items('<expected-delivery-date>2026-12-01</expected-delivery-date>')}</order-status>`
  for (const _ of [1, 2]) {
    const sent = { ...xml, ...seller, 'if-match': String(headers.etag) }
    const put = await app.inject({ method: 'PUT', url: `${order}/status`, headers: sent, payload: status })
    t.match([put.statusCode, put.body.match(/<item /g)?.length], [200, lines], 'also when it is sent again')
  }
  const ship = (payload: string, more = {}) =>
    app.inject({ method: 'POST', url: `${order}/shipments`, headers: { ...xml, ...seller, ...more }, payload })
  const half = `<shipment>${items('<quantity>0.5</quantity>')}</shipment>`
  const first = await ship(half, { 'idempotency-key': 'k' })
  t.match([first.statusCode, first.body.match(/<item /g)?.length], [201, lines])
  t.equal((await ship(half, { 'idempotency-key': 'k' })).body, first.body, 'replayed')
  t.equal((await ship(half.replace('>0.5<', '>0.6<'))).statusCode, 409)
  t.equal((await ship('<shipment/>')).statusCode, 201)
  for (const url of [order, `${order}/status`, `${order}/shipments`, `${order}/shipment/1`]) {
    for (const accept of ['application/xml', 'application/json', 'text/html']) {
      const read = await app.inject({ url, headers: { ...seller, accept } })
      t.match([read.statusCode, read.headers['content-type']], [200, accept], `${url} ${accept}`)
    }
  }
  t.match((await app.inject({ url: `${order}/shipment/2`, headers: html })).body, 'the first 200 of 2000')
  t.same(parsed, [])
})
