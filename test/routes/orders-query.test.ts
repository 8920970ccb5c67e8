import t, { type Test } from 'tap'
import type { Order } from '../../domain/order.ts'
import { mostContent } from '../../domain/order-list.ts'
import { build, type Shop } from '../build.ts'
import { remaining } from '../http/wire.ts'
import { watchParses } from '../parses.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import { placing, purchase, untilLater } from '../stores/fixtures.ts'

const json = { accept: 'application/json' }
const html = { accept: 'text/html' }

interface Listed {
  readonly order: readonly { readonly id: string; readonly orderNumber?: string; readonly item?: unknown }[]
  readonly link: readonly { readonly rel: string; readonly href: string }[]
}

interface Prepared extends Shop {
  readonly seller: Record<string, string>
  readonly buyer: Record<string, string>
  readonly orders: readonly Order[]
  list(query: string, headers?: Record<string, string>): Promise<Listed>
  ids(query: string, headers?: Record<string, string>): Promise<string[]>
}

const instant = (at: number) => new Date(at).toISOString()
const next = ({ link }: Listed) => link.find(({ rel }) => rel === 'next')?.href

/** A shop with orders of ACME (0, 2), Globex (1) and a guest (3), of which ACME's first was shipped. */
async function prepare(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<Prepared> {
  const shop = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } }, settings })
  const { app, store } = shop
  const orders: Order[] = []
  for (const [i, customer] of ['ACME', 'Globex', 'ACME', undefined].entries()) {
    const order = { ...placing('ABC-1').order, orderNumber: `PO-${i % 3}` }
    orders.push((await store.placeOrder(placing('ABC-1', 1, { order, ...(customer === undefined ? {} : { customer }) }))).order)
    await untilLater()
  }
  await store.setOrderStatus(orders[0]?.id ?? '', 'shipped', {})
  const seller = { ...(await shop.key('ERP', 'fulfilment')) }
  const list = async (query: string, headers = seller) => {
    const { statusCode, body } = await app.inject({ url: `/orders${query}`, headers: { ...headers, ...json } })
    t.equal(statusCode, 200, `${query}: ${body.slice(0, 300)}`)
    return JSON.parse(body) as Listed
  }
  const ids = async (query: string, headers = seller) => {
    const found: string[] = []
    for (let at: string | undefined = query; at !== undefined; ) {
      const page: Listed = await list(at, headers)
      found.push(...page.order.map(({ id }) => id))
      at = next(page)?.slice('/orders'.length)
    }
    return found
  }
  return { ...shop, seller, buyer: { ...(await shop.key('ACME', 'order')) }, orders, list, ids }
}

t.test('orders are asked for by customer, number, status and times, in either order, page by page', async (t) => {
  const { ids, buyer, orders } = await prepare(t)
  const [first, second, third, fourth] = orders.map(({ id }) => id)
  const from = encodeURIComponent(instant(orders[0]?.placedAt ?? 0))
  for (const limit of ['', '&limit=1']) {
    t.same(await ids(`?order=newest${limit}`), [fourth, third, second, first])
    t.same(await ids(`?order=oldest${limit}`), [first, second, third, fourth])
    t.same(await ids(`?customer=ACME${limit}`), [third, first])
    t.same(await ids(`?customer=ACME&status=shipped${limit}`), [first])
    t.same(await ids(`?order-number=PO-0${limit}`), [fourth, first])
    t.same(await ids(`?order-number=PO-0&customer=ACME${limit}`), [first])
    t.same(await ids(`?placed-since=${from}&order=oldest${limit}`), [first, second, third, fourth], 'fractions of the second do not count')
    t.same(await ids(`?placed-since=2999-01-01T00:00:00Z${limit}`), [])
    t.same(await ids(`?modified-since=${from}&order=oldest${limit}`), [second, third, fourth, first], 'the last change comes last')
    t.same(await ids(`?modified-since=${from}&customer=ACME&with=lines${limit}`), [first, third])
    t.same(await ids(`?order=oldest${limit}`, buyer), [first, third], 'its own')
    t.same(await ids(`?customer=ACME&placed-since=${from}${limit}`, buyer), [third, first])
  }
})

t.test('the links of a page carry all parameters', async (t) => {
  const { list, orders } = await prepare(t)
  const since = instant(orders[0]?.placedAt ?? 0)
  const query = new URLSearchParams({
    'modified-since': since,
    'placed-since': since,
    order: 'oldest',
    customer: 'ACME',
    with: 'lines',
    limit: '1'
  })
  const page = await list(`?${query}`)
  for (const rel of ['first', 'next', 'self']) {
    const href = page.link.find((link) => link.rel === rel)?.href ?? ''
    const carried = new URLSearchParams(href.slice(href.indexOf('?')))
    for (const [name, value] of query) t.equal(carried.get(name), value, `${rel} ${name}`)
    t.equal(carried.has('after'), rel === 'next')
  }
})

t.test('an invalid time, cursor or parameter is 400, and the orders of another customer are 403', async (t) => {
  const { app, list, seller, buyer } = await prepare(t)
  const status = async (url: string, headers = seller) => (await app.inject({ url, headers })).statusCode
  const many = 'x'.repeat(65)
  for (const query of [
    'placed-since=yesterday',
    'modified-since=2026-11-21',
    'order=up',
    'with=items',
    'customer=',
    'customer=%00',
    'order-number=a%00',
    `order-number=${many}`,
    'since=2026-11-21T00:00:00Z'
  ]) {
    t.equal(await status(`/orders?${query}`), 400, query)
  }
  const sortings = [
    'order=newest',
    'order=oldest',
    'modified-since=2020-01-01T00:00:00Z',
    'modified-since=2020-01-01T00:00:00Z&order=oldest'
  ]
  for (const sorting of sortings) {
    const cursor = new URLSearchParams(next(await list(`?limit=1&${sorting}`))?.split('?')[1]).get('after')
    for (const other of sortings)
      t.equal(await status(`/orders?${other}&after=${cursor}`), other === sorting ? 200 : 400, `${sorting}, ${other}`)
  }
  t.equal(await status('/orders?customer=Globex', buyer), 403)
  t.equal(await status('/orders?customer=ACME', buyer), 200)
})

t.test('a page that has not changed is 304 without a look at the orders, and is free (RFC 9110 13.1.2)', async (t) => {
  const { app, store, seller, buyer, orders, key } = await prepare(t, { RATE_LIMIT: '1000' })
  let reads = 0
  for (const verb of ['orders', 'wholeOrders'] as const) {
    const read = store[verb] as (query: never) => Promise<never>
    const counted = (query: never) => {
      reads++
      return read(query)
    }
    Object.assign(store, { [verb]: counted })
  }
  const ask = async (url: string, headers: Record<string, string>) => {
    const response = await app.inject({ url, headers })
    const { etag, 'cache-control': cached } = response.headers
    return { status: response.statusCode, tag: String(etag), cached, left: remaining(response.headers) }
  }
  const tags = new Set<string>()
  const both = await key('ERP', 'fulfilment', 'order')
  for (const headers of [seller, buyer, both]) {
    // A key is counted by itself from its second request on.
    await ask('/orders', headers)
    for (const url of ['/orders', '/orders?with=lines', '/orders?limit=2']) {
      for (const accept of ['application/xml', 'application/json', 'text/html']) {
        const found = await ask(url, { ...headers, accept })
        t.match(found, { status: 200, tag: /^W\/"/, cached: 'private, no-cache', left: /^\d+$/ })
        tags.add(found.tag)
        const before = reads
        const { left } = found
        t.match(await ask(url, { ...headers, accept, 'if-none-match': found.tag }), { status: 304, tag: found.tag, left })
        t.equal(reads, before)
      }
    }
  }
  t.equal(tags.size, 27, 'each caller, page and representation has its own')
  const { tag } = await ask('/orders', seller)
  const conditional = { ...seller, 'if-none-match': tag }
  await store.putStock('ABC-1', '7' as never, {})
  t.equal((await ask('/orders', conditional)).status, 304, 'stock is not shown')
  await store.setOrderStatus(orders[1]?.id ?? '', 'cancelled', {})
  t.equal((await ask('/orders', conditional)).status, 200)
  t.equal((await ask('/orders', { ...seller, 'if-match': tag })).status, 412, 'a weak tag never matches strongly')
})

t.test('with=lines gives each order as its own URI does, valid by the published schema', async (t) => {
  const { app, seller, list, orders } = await prepare(t)
  const page = await list('?with=lines&order=oldest')
  for (const [i, { id }] of orders.entries()) {
    const one = await app.inject({ url: `/order/${id}`, headers: { ...seller, ...json } })
    t.same(page.order[i], JSON.parse(one.body))
    const [document, whole] = await Promise.all(
      ['/orders?with=lines', `/order/${id}`].map(async (url) => (await app.inject({ url, headers: seller })).body)
    )
    const content = (whole ?? '').slice((whole ?? '').indexOf('<order ')).trim()
    t.ok(document?.replaceAll(/^ {2}/gm, '').includes(content), 'in XML too')
  }
  for (const query of ['', '?with=lines', '?with=lines&status=rejected']) {
    t.same(await faultsByPublishedSchema(app, (await app.inject({ url: `/orders${query}`, headers: seller })).body), [], query)
  }
  t.notOk('item' in ((await list('')).order[0] ?? {}), 'a summary has no lines, not even none')
  const pages = await Promise.all(['/orders', '/orders?with=lines'].map((url) => app.inject({ url, headers: { ...seller, ...html } })))
  t.equal(pages[1]?.body.replaceAll(/[?&](?:amp;)?with=lines/g, ''), pages[0]?.body, 'the page for people is the same')
})

t.test('a large page of whole orders ends early, and is written without parsing it in the thread that serves', async (t) => {
  const { app, store, seller, ids, list } = await prepare(t)
  const noted = purchase(
    Array.from({ length: 400 }, () => ({ product: { productId: 'ABC-1' }, quantity: '1' as never, notes: ['x'.repeat(300)] }))
  )
  for (let i = 0; i < 8; i++) await store.placeOrder({ order: noted, status: 'accepted' })
  const parsed = watchParses(t)
  const page = await list('?with=lines')
  t.ok(page.order.length > 1 && page.order.length < 8, `${page.order.length} orders`)
  t.ok(next(page))
  const { body } = await app.inject({ url: '/orders?with=lines', headers: seller })
  t.ok(body.length < 2 * mostContent)
  t.same(await faultsByPublishedSchema(app, body), [])
  t.equal((await ids('?with=lines')).length, 12)
  t.same(parsed, [])
})

t.test('the page for people keeps the filters in its links, and shows charts only of days in their order', async (t) => {
  const { app, seller } = await prepare(t)
  const page = async (query: string) => (await app.inject({ url: `/orders${query}`, headers: { ...seller, ...html } })).body
  const filtered = await page('?customer=ACME&order=oldest')
  t.match(filtered, 'oldest first')
  t.match(filtered, 'href="/orders?customer=ACME&amp;order=oldest&amp;status=shipped"')
  t.notMatch(filtered, 'Orders per day')
  t.match(await page(''), 'Orders per day')
  t.match(await page('?modified-since=2020-01-01T00:00:00Z'), 'newest first, by their last change')
})

t.test('a person who looks for an order by its id gets its page, and a machine a list of orders with that number', async (t) => {
  const { app, seller, buyer, orders } = await prepare(t)
  const look = async (id: string, headers: Record<string, string>) => {
    const { statusCode, headers: fields } = await app.inject({ url: `/orders?order-number=${id}`, headers })
    return [statusCode, fields['location']]
  }
  const [acmes, others] = [String(orders[0]?.id), String(orders[1]?.id)]
  t.same(await look(others, { ...seller, ...html }), [303, `/order/${others}`])
  t.same(await look(acmes, { ...buyer, ...html }), [303, `/order/${acmes}`])
  t.same(await look(others, { ...buyer, ...html }), [200, undefined], "another customer's order")
  t.same(await look('PO-none', { ...seller, ...html }), [200, undefined])
  t.same(await look(acmes, { ...seller, ...json }), [200, undefined], 'a machine')
})

t.test('blank filters are dropped for a page only: a machine that sends one would list more than it meant', async (t) => {
  const { app, key } = await build(t)
  const seller = await key('ERP', 'fulfilment')
  const get = (url: string, accept: string) => app.inject({ url, headers: { ...seller, accept } })
  const url = '/orders?customer=&order-number=%20PO-1&placed-since=2026-11-20&limit='
  const page = await get(url, 'text/html')
  t.match([page.statusCode, page.headers['location']], [303, '/orders?order-number=PO-1&placed-since=2026-11-20T00%3A00%3A00Z'])
  t.equal((await get(String(page.headers['location']), 'text/html')).statusCode, 200)
  t.equal((await get('/orders?placed-since=2026-11-31', 'text/html')).statusCode, 303)
  t.equal((await get('/orders?placed-since=2026-11-31T00%3A00%3A00Z', 'text/html')).statusCode, 400, 'no such day')
  for (const machine of [url, '/orders?customer=']) t.equal((await get(machine, 'application/json')).statusCode, 400)
})
