import t from 'tap'
import { everyone } from '../../domain/event.ts'
import { build, orderXml, xml } from '../build.ts'
import { watchParses } from '../parses.ts'
import { json, place, read } from './feed.ts'

t.test('the feed has every event once, oldest first, over pages that a reader follows by next', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const orders = [await place(shop), await place(shop), await place(shop)]
  const seen: string[] = []
  let url = '/events?limit=2'
  for (;;) {
    const { page, next } = await read(shop, url, erp)
    if (page.event.length === 0) {
      t.equal(next, url, 'an empty page says to ask again')
      break
    }
    seen.push(...page.event.map(({ type, resource }) => `${type} ${resource}`))
    url = next
  }
  t.same(seen, ['product-created /product/ABC-1', ...orders.map((uri) => `order-placed ${uri}`)])
  const late = await place(shop)
  t.same((await read(shop, url, erp)).page.event[0]?.resource, late)
})

t.test('the order of an event is the order as it was then, and links only to itself', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const uri = await place(shop)
  const { headers } = await shop.app.inject(uri)
  const payload = orderXml({ 'ABC-1': 7 })
  await shop.app.inject({ method: 'PUT', url: uri, headers: { ...xml, 'if-match': String(headers.etag) }, payload })
  const { body } = await shop.app.inject({ url: '/events?type=order-placed&type=order-changed', headers: erp })
  t.same(
    [...body.matchAll(/<quantity unit="C62">(\d+)</g)].map(([, quantity]) => quantity),
    ['1', '7']
  )
  t.same(
    [...body.matchAll(/<order id="[^"]*" version="(\d)"/g)].map(([, version]) => version),
    ['1', '2']
  )
  t.same(
    [...body.matchAll(/ {6}<link rel="([^"]*)"/g)].map(([, rel]) => rel),
    ['self', 'self']
  )
})

t.test('each scope hears its own events, and a guest none', async (t) => {
  const shop = await build(t)
  const [acme, other] = [await shop.key('acme', 'order'), await shop.key('other', 'order')]
  const mine = await place(shop, acme)
  await place(shop, other)
  await place(shop)
  const types = async (headers: Readonly<Record<string, string>>) =>
    (await read(shop, '/events', headers)).page.event.map(({ type }) => type)
  t.same(await types(acme), ['product-created', 'order-placed'])
  t.equal((await read(shop, '/events?type=order-placed', acme)).page.event[0]?.resource, mine)
  t.same(await types(await shop.key('stock', 'catalogue')), ['product-created', 'stock-set'])
  t.same(await types(await shop.key('erp', 'fulfilment')), ['product-created', 'order-placed', 'order-placed', 'order-placed'])
  t.equal((await read(shop, '/events', {})).statusCode, 401)
  t.same((await read(shop, '/events?type=stock-set', acme)).page.event, [], 'a type that the key does not hear')
})

t.test('a full page after a cursor never changes; any other is asked for again, at the cost of a look-up', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  await place(shop)
  await place(shop)
  const first = await read(shop, '/events?limit=1', erp)
  t.equal(first.headers['cache-control'], 'private, no-cache', 'without a cursor the oldest event can be deleted')
  const full = await read(shop, first.next, erp)
  t.equal(full.headers['cache-control'], 'private, max-age=31536000, immutable')
  t.match(full.headers['vary'], /Authorization/)
  const last = await read(shop, `${full.next.replace('limit=1', 'limit=5')}`, erp)
  t.equal(last.page.event.length, 1)
  t.equal(last.headers['cache-control'], 'private, no-cache')
  for (const { url, etag } of [
    { url: first.next, etag: full.headers.etag },
    { url: full.next.replace('limit=1', 'limit=5'), etag: last.headers.etag }
  ]) {
    const again = await read(shop, url, { ...erp, 'if-none-match': String(etag) })
    t.equal(again.statusCode, 304)
    t.equal(again.headers.etag, etag)
  }
  await place(shop)
  const changed = await read(shop, full.next.replace('limit=1', 'limit=5'), { ...erp, 'if-none-match': String(last.headers.etag) })
  t.equal(changed.statusCode, 200)
  t.equal(changed.page.event.length, 2)
  const page = await shop.app.inject({ url: first.next, headers: { ...erp, accept: 'text/html' } })
  t.equal(page.headers['cache-control'], 'private, no-cache', 'the page for people is of this release')
  t.match(page.body, /Order placed.*<span class="on-phone">version <\/span>1</)
})

t.test('two keys never share an entity tag of the same page', async (t) => {
  const shop = await build(t)
  const [erp, acme] = [await shop.key('erp', 'fulfilment'), await shop.key('acme', 'order')]
  const tags = await Promise.all([erp, acme].map(async (key) => (await read(shop, '/events', key)).headers.etag))
  t.not(tags[0], tags[1])
})

t.test('a bad cursor is 400; one that is not kept is 410, and says where to go on', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  await place(shop)
  const { next, page } = await read(shop, '/events?limit=1', erp)
  for (const after of ['x', '1', `${page.event[0]?.id}0`, 'ZZZZZZZZ-0000-7000-8000-000000000000', '%00'])
    t.equal((await read(shop, `/events?after=${after}`, erp)).statusCode, 400, after)
  t.equal((await read(shop, '/events?type=order-eaten', erp)).statusCode, 400)
  t.equal((await read(shop, '/events?since=1', erp)).statusCode, 400)
  await shop.store.pruneEvents(Date.now() + 60_000, 100)
  const gone = await shop.app.inject({ url: next, headers: { ...erp, ...json } })
  t.equal(gone.statusCode, 410)
  t.match(gone.json(), { type: '/problems/cursor-expired', title: 'The event of this cursor is no longer kept' })
  const on = /<([^>]*)>; rel="next"/.exec(String(gone.headers.link))?.[1] ?? ''
  t.match(on, /^\/events\?limit=1&after=/, 'with the parameters that were sent')
  t.same((await read(shop, on, erp)).page.event, [])
  const late = await place(shop)
  t.equal((await read(shop, on, erp)).page.event[0]?.resource, late)
})

t.test('the link of an expired cursor tells a customer nothing of the orders of others', async (t) => {
  const shop = await build(t)
  const [acme, other] = [await shop.key('acme', 'order'), await shop.key('other', 'order')]
  await place(shop, acme)
  const expired = async () => {
    const url = '/events?type=order-placed&after=00000000-0000-7000-8000-000000000000'
    const { statusCode, headers } = await shop.app.inject({ url, headers: { ...acme, ...json } })
    t.equal(statusCode, 410)
    return headers.link
  }
  const before = await expired()
  await place(shop, other)
  t.equal(await expired(), before)
  await place(shop, acme)
  t.not(await expired(), before)
})

t.test('NDJSON has an event a line, and HEAD has the headers of GET', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const uri = await place(shop)
  const { headers, body } = await shop.app.inject({ url: '/events', headers: { ...erp, accept: 'application/x-ndjson' } })
  t.equal(headers['content-type'], 'application/x-ndjson; charset=utf-8')
  const events = body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(events, [{ type: 'product-created' }, { type: 'order-placed', resource: uri, version: '1', order: { id: uri.slice(7) } }])
  t.match(headers.link, 'rel="next"')
  const head = await shop.app.inject({ method: 'HEAD', url: '/events', headers: { ...erp, accept: 'application/x-ndjson' } })
  t.equal(head.statusCode, 200)
  t.equal(head.headers.etag, headers.etag)
})

const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'

t.test('a page ends before its orders weigh too much, and no large order is parsed in the thread that serves', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const erp = await shop.key('erp', 'fulfilment')
  for (const lines of [2_000, 2_000, 5, 5]) await place(shop, {}, `<purchase-order>${line.repeat(lines)}</purchase-order>`)
  const parsed = watchParses(t)
  const sizes: number[] = []
  let url = '/events?type=order-placed'
  for (const accept of ['application/json', 'application/json', 'application/json']) {
    const { page, next } = await read(shop, url, { ...erp, accept })
    sizes.push(page.event.length)
    url = next
  }
  t.equal(
    sizes.reduce((sum, size) => sum + size),
    4
  )
  t.ok(sizes[0] && sizes[0] < 4, 'the first page is shorter than its limit')
  for (const accept of ['application/xml', 'text/html', 'application/x-ndjson']) {
    const { statusCode, body } = await shop.app.inject({ url: '/events?type=order-placed', headers: { ...erp, accept } })
    t.equal(statusCode, 200)
    t.ok(body.length > 100, accept)
  }
  t.same(parsed, [])
})

t.test('the feed and the outbox agree', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment', 'catalogue')
  await Promise.all(Array.from({ length: 20 }, () => place(shop)))
  const heads = await shop.store.eventHeads({ audience: everyone, limit: 100 })
  const { page } = await read(shop, '/events', erp)
  t.same(
    page.event.map(({ id }) => id),
    heads.map(({ id }) => id)
  )
})
