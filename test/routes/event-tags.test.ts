import t, { type Test } from 'tap'
import { eventTypes } from '../../domain/event.ts'
import type { EventQuery } from '../../domain/store.ts'
import { build, draft, type Shop } from '../build.ts'
import { place, read } from './feed.ts'

/** A shop with six events: one of a product and five orders. */
async function sold(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const shop = await build(t, { settings })
  const erp = await shop.key('erp', 'fulfilment')
  for (let i = 0; i < 5; i++) await place(shop)
  const { next } = await read(shop, '/events?limit=2', erp)
  return { shop, erp, next }
}

type Key = Awaited<ReturnType<Shop['key']>>

async function get({ app }: Shop, url: string, key: Key, accept: string, tag?: string) {
  const { statusCode, headers, body } = await app.inject({ url, headers: { ...key, accept, ...(tag ? { 'if-none-match': tag } : {}) } })
  const left = Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1])
  return { statusCode, body, left, tag: String(headers.etag), policy: headers['cache-control'] }
}

/** Counts the events that requests read, apart from the one that a page begins with. */
function countHeads({ store }: Shop): { count: number } {
  const { eventHeads } = store
  const reads = { count: 0 }
  Object.assign(store, {
    eventHeads: async (query: EventQuery) => {
      const found = await eventHeads(query)
      if (query.limit > 1) reads.count += found.length
      return found
    }
  })
  return reads
}

t.test('a 304 of a page that can change costs two look-ups, however many events the page has (RFC 9110 13.1.2)', async (t) => {
  const { shop, erp, next } = await sold(t)
  const end = (await read(shop, '/events', erp)).next
  const reads = countHeads(shop)
  for (const [url, accept] of [
    ['/events', 'application/json'],
    ['/events?limit=3', 'application/xml'],
    ['/events?type=order-placed&limit=5', 'application/x-ndjson'],
    ['/events?type=stock-set', 'application/json'],
    [next.replace('limit=2', 'limit=50'), 'application/json'],
    [next, 'text/html'],
    [end, 'application/json']
  ] as const) {
    const page = await get(shop, url, erp, accept)
    t.same([page.statusCode, page.policy], [200, 'private, no-cache'], url)
    reads.count = 0
    const again = await get(shop, url, erp, accept, `"other", ${page.tag}`)
    t.same([again.statusCode, again.tag, again.policy, reads.count], [304, page.tag, page.policy, 0], url)
  }
})

t.test('a 304 is free if it costs two look-ups, and counts if events were read or the request has waited', async (t) => {
  const { shop, erp, next } = await sold(t, { RATE_LIMIT: '100' })
  const end = (await read(shop, '/events', erp)).next
  const cost = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
    const page = await get(shop, url, erp, 'application/json')
    const again = await shop.app.inject({ url, headers: { ...erp, accept: 'application/json', 'if-none-match': page.tag, ...headers } })
    t.equal(again.statusCode, 304, url)
    return page.left - Number(/r=(\d+)/.exec(String(again.headers['ratelimit']))?.[1])
  }
  t.equal(await cost('/events'), 0)
  t.equal(await cost('/events?limit=3'), 0)
  t.equal(await cost(end), 0)
  t.equal(await cost('/events', { prefer: 'wait=60' }), 0, 'a page with events waits for none')
  t.equal(await cost('/events', { 'if-none-match': '*' }), 1)
  t.equal(await cost('/events', { 'if-match': '*' }), 1)
  t.equal(await cost(next), 1, 'a final page, which no client has to ask for again')
  t.equal(await cost(end, { prefer: 'wait=1' }), 1)
})

t.test('a final page has one tag for ever', async (t) => {
  const { shop, erp, next } = await sold(t)
  const page = await get(shop, next, erp, 'application/json')
  t.equal(page.policy, 'private, max-age=31536000, immutable')
  await place(shop)
  const again = await get(shop, next, erp, 'application/json', page.tag)
  t.same([again.statusCode, again.tag, again.policy], [304, page.tag, page.policy])
  t.equal((await shop.app.inject({ url: next, headers: { ...erp, accept: 'application/json', 'if-match': page.tag } })).statusCode, 200)
})

/** Asks for a page, and again with the tag that it had before. Remembers which content each tag names. */
function makeReader(t: Test, shop: Shop) {
  const contents = new Map<string, string>()
  const tags = new Map<string, string>()
  const seen = { unchanged: 0, changed: 0, gone: 0 }

  async function ask(url: string, key: Key, accept: string): Promise<void> {
    const name = `${url} ${key.authorization} ${accept}`
    const before = tags.get(name)
    const page = await get(shop, url, key, accept)
    const again = await get(shop, url, key, accept, before)
    if (page.statusCode === 410) {
      seen.gone++
      t.equal(again.statusCode, 410, name)
      return
    }
    const isUnchanged = before === page.tag
    t.same([page.statusCode, again.statusCode, again.tag], [200, isUnchanged ? 304 : 200, page.tag], name)
    t.equal(page.body, contents.get(page.tag) ?? page.body, name)
    contents.set(page.tag, page.body)
    tags.set(name, page.tag)
    if (before !== undefined) seen[isUnchanged ? 'unchanged' : 'changed']++
  }

  return { ask, seen }
}

t.test('a tag of a page names one representation, whatever happens and is deleted (RFC 9110 8.8.3)', async (t) => {
  const { shop, erp, next } = await sold(t)
  const acme = await shop.key('acme', 'order')
  const urls = [
    '/events',
    '/events?limit=1',
    '/events?limit=3',
    '/events?type=order-placed&limit=2',
    next,
    next.replace('limit=2', 'limit=4')
  ]
  const { ask, seen } = makeReader(t, shop)
  const changes = [
    () => place(shop),
    () => place(shop, acme),
    () => shop.store.putProduct('ABC-2', draft(), {}),
    () => shop.store.pruneEvents(Date.now() + 60_000, 1),
    () => Promise.resolve(),
    () => place(shop),
    () => shop.store.pruneEvents(Date.now() + 60_000, 2),
    () => place(shop)
  ]
  for (const change of changes) {
    for (const url of urls)
      for (const key of [erp, acme]) for (const accept of ['application/json', 'text/html']) await ask(url, key, accept)
    await change()
  }
  for (const [what, count] of Object.entries(seen)) t.ok(count > 5, what)
})

t.test('a page whose last event is another has another tag, also when it comes while the page is read', async (t) => {
  const { shop, erp } = await sold(t)
  const { eventHeads } = shop.store
  let isLate = true
  Object.assign(shop.store, {
    eventHeads: async (query: EventQuery) => {
      const found = await eventHeads(query)
      if (query.limit > 1 && query.audience.types.length < eventTypes.length && isLate) {
        isLate = false
        await place(shop)
      }
      return found
    }
  })
  const first = await get(shop, '/events', erp, 'application/json')
  const second = await get(shop, '/events', erp, 'application/json', first.tag)
  t.equal(second.statusCode, 200)
  t.not(second.tag, first.tag)
  t.equal(JSON.parse(second.body).event.length, JSON.parse(first.body).event.length + 1)
})
