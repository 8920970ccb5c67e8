import type { Test } from 'tap'
import { parseText, textOf } from '../../domain/deferred.ts'
import { PositionError } from '../../domain/errors.ts'
import type { Order } from '../../domain/order.ts'
import { mostContent } from '../../domain/order-list.ts'
import type { OrderQuery, Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, everything, item, placing, purchase, stocked, untilLater } from './fixtures.ts'

type Filters = Omit<OrderQuery, 'limit' | 'after'>

const list = async (store: Store, query: Filters, limit = 2) =>
  (await everything((after) => store.orders({ limit, ...query, ...after }))).map(({ id }) => id)

/** Orders of two customers and guests with a few numbers and statuses, some of which changed later; the oldest first. */
async function fill(store: Store): Promise<Order[]> {
  await store.createProduct('a', stocked(1000))
  const placed: Order[] = []
  for (let i = 0; i < 12; i++) {
    const customer = [undefined, 'acme', 'other'][i % 3]
    const order = purchase([item('a')], i % 4 === 0 ? {} : { orderNumber: `PO-${Math.floor(i / 6)}${customer === 'acme' ? i : ''}` })
    if (i % 5 === 0) await untilLater()
    const status = i % 2 ? 'received' : 'accepted'
    placed.push((await store.placeOrder({ order, status, ...(customer === undefined ? {} : { customer }) })).order)
    // A taken number of a customer is freed, so that it occurs more than once.
    if (customer === 'other') await store.setOrderStatus(placed.at(-1)?.id ?? '', 'cancelled', {})
  }
  await untilLater()
  for (const i of [3, 0, 7]) await store.setOrderStatus(placed[i]?.id ?? '', 'cancelled', {})
  return Promise.all(placed.map(({ id }) => store.order(id)))
}

/** The expected list, made without a database. */
function expected(orders: readonly Order[], query: Filters): string[] {
  const { customer, status, orderNumber, placedSince = 0, modifiedSince, order } = query
  const by = (order: Order) => (modifiedSince === undefined || orderNumber !== undefined ? order.placedAt : order.modifiedAt)
  const ids = orders
    .map((order, place) => ({ order, place }))
    .filter(({ order }) => customer === undefined || order.customer === customer)
    .filter(({ order }) => status === undefined || order.status === status)
    .filter(({ order }) => orderNumber === undefined || order.orderNumber === orderNumber)
    .filter(({ order }) => order.placedAt >= placedSince && order.modifiedAt >= (modifiedSince ?? 0))
    .sort((a, b) => by(a.order) - by(b.order) || a.place - b.place)
    .map(({ order }) => order.id)
  return order === 'oldest' ? ids : ids.reverse()
}

async function showsAll(t: Test, store: Store, orders: readonly Order[], query: Filters): Promise<void> {
  for (const order of ['newest', 'oldest', undefined] as const) {
    const filters = { ...query, ...(order === undefined ? {} : { order }) }
    t.same(await list(store, filters), expected(orders, filters), JSON.stringify(filters))
  }
}

export function orderListContract(rule: Rule): void {
  rule('orders are filtered by every combination of customer, status, number and times, in both orders', async (t, store) => {
    const orders = await fill(store)
    const middle = orders[6]?.placedAt ?? 0
    const latest = Math.max(...orders.map(({ modifiedAt }) => modifiedAt))
    for (const customer of [{}, { customer: 'acme' }, { customer: 'none' }]) {
      for (const status of [{}, { status: 'cancelled' }, { status: 'received' }] as const) {
        for (const number of [{}, { orderNumber: 'PO-1' }]) {
          for (const times of [
            {},
            { placedSince: middle },
            { modifiedSince: middle + 1 },
            { modifiedSince: 0 },
            { modifiedSince: latest },
            { placedSince: middle, modifiedSince: 0 },
            { placedSince: latest + 1 },
            { modifiedSince: latest + 1 }
          ]) {
            await showsAll(t, store, orders, { ...customer, ...status, ...number, ...times })
          }
        }
      }
    }
    await showsAll(t, store, orders, { customer: 'acme', orderNumber: 'PO-01' })
    await showsAll(t, store, orders, { customer: 'other', orderNumber: 'PO-0' })
  })

  rule(
    'an order that changes during a walk by modification comes again, and neither loses others nor spoils the cursor',
    async (t, store) => {
      await store.createProduct('a', stocked(100))
      const ids: string[] = []
      for (let i = 0; i < 8; i++) ids.push((await store.placeOrder(placing('a'))).order.id)
      const query = { modifiedSince: 1, order: 'oldest', limit: 3 } as const
      const first = await store.orders(query)
      t.same(
        first.items.map(({ id }) => id),
        ids.slice(0, 3)
      )
      await untilLater()
      for (const id of [ids[2], ids[0], ids[5]]) await store.setOrderStatus(id ?? '', 'cancelled', {})
      const rest = await everything((after) => store.orders({ ...query, after: first.next ?? '', ...after }))
      const seen = rest.map(({ id }) => id)
      t.same(new Set(seen), new Set([...ids.slice(3), ids[2], ids[0]]), 'the rest, and what changed again')
      t.equal(seen.length, new Set(seen).size)
      t.same(new Set(seen.slice(-3)), new Set([ids[2], ids[0], ids[5]]), 'what changed last comes last')
      const newest = await store.orders({ modifiedSince: 1, limit: 4 })
      await untilLater()
      await store.setOrderStatus(newest.items[3]?.id ?? '', 'shipped', {})
      const after = await everything((more) => store.orders({ modifiedSince: 1, limit: 4, after: newest.next ?? '', ...more }))
      const listed = [...newest.items, ...after].map(({ id }) => id)
      t.same(listed.sort(), ids.sort(), 'from the newest on, each is listed once, also when the last of a page changes')
    }
  )

  rule('orders of one moment are each listed once', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    await Promise.all(Array.from({ length: 60 }, () => store.placeOrder(placing('a', 1, { customer: 'acme' }))))
    for (const query of [{}, { modifiedSince: 1 }, { customer: 'acme', status: 'accepted', modifiedSince: 1 }] as const) {
      const oldest = await list(store, { ...query, order: 'oldest' }, 7)
      t.equal(new Set(oldest).size, 60)
      t.same(await list(store, query, 7), oldest.reverse())
    }
  })

  rule('a position of one order of sorting is none of the other', async (t, store) => {
    await fill(store)
    const placed = await store.orders({ limit: 1 })
    const modified = await store.orders({ limit: 1, modifiedSince: 1 })
    await t.rejects(store.orders({ limit: 1, after: modified.next ?? '' }), PositionError)
    const positions = [
      placed.next ?? '',
      '1',
      `1 ${'x'.repeat(36)}`,
      `x ${placed.next}`,
      `1 ${placed.next} `,
      `${'9'.repeat(16)} ${placed.next}`
    ]
    for (const after of positions) {
      await t.rejects(store.orders({ limit: 1, modifiedSince: 1, after }), PositionError, after)
      await t.rejects(store.wholeOrders({ limit: 1, modifiedSince: 1, after }), PositionError, after)
    }
  })

  rule('whole orders are listed as each is by itself, unparsed', async (t, store) => {
    const orders = await fill(store)
    for (const query of [
      {},
      { modifiedSince: 1, order: 'oldest', placedSince: 1 },
      { status: 'cancelled', orderNumber: 'PO-0' }
    ] as const) {
      const found = await everything((after) => store.wholeOrders({ limit: 5, ...query, ...after }))
      const ids = expected(orders, query)
      t.ok(ids.length > 0)
      t.ok(found.every((order) => textOf(order) !== undefined))
      t.same(
        found.map((order) => parseText(textOf(order) ?? '')),
        ids.map((id) => orders.find((order) => order.id === id))
      )
    }
  })

  rule('a page of whole orders ends early when they are large, and has at least one', async (t, store) => {
    await store.createProduct('a', stocked(100_000))
    const noted = (bytes: number) => purchase([item('a')], { notes: ['x'.repeat(bytes)] })
    for (const bytes of [200_000, 200_000, 200_000, mostContent * 2, 10, 10]) {
      await store.placeOrder({ order: noted(bytes), status: 'accepted' })
    }
    const lengths: number[] = []
    const found = await everything(async (after) => {
      const page = await store.wholeOrders({ limit: 10, order: 'oldest', ...after })
      lengths.push(page.items.length)
      return page
    })
    t.same(lengths, [2, 1, 1, 2])
    t.same(
      found.map(({ id }) => id),
      await list(store, { order: 'oldest' })
    )
  })

  rule('a number that very many orders have is looked at in pages, which may be short', async (t, store) => {
    await store.createProduct('a', stocked(10_000))
    const numbered = { order: purchase([item('a')], { orderNumber: 'same' }), status: 'accepted' } as const
    const placed = await Promise.all(Array.from({ length: 1_005 }, () => store.placeOrder(numbered)))
    const first = (await store.orders({ limit: 1, order: 'oldest' })).items[0]?.id ?? ''
    await store.setOrderStatus(first, 'cancelled', {})
    const page = await store.orders({ limit: 10, orderNumber: 'same', status: 'cancelled' })
    t.equal(page.items.length, 0)
    t.ok(page.next, 'and goes on')
    t.same(await list(store, { orderNumber: 'same', status: 'cancelled' }, 10), [first])
    t.same(await list(store, { orderNumber: 'same', status: 'received' }, 10), [])
    t.equal((await list(store, { orderNumber: 'same' }, 500)).length, placed.length)
  })

  rule('the revision of orders changes with each change of an order, and with nothing else', async (t, store) => {
    const seen = new Set<string>()
    const changes = async (what: string) => {
      const revision = await store.ordersRevision()
      t.notOk(seen.has(revision), what)
      seen.add(revision)
    }
    await changes('nothing')
    await store.createProduct('a', stocked(100))
    const { order } = await store.placeOrder(placing('a', 1, { customer: 'acme' }))
    await changes('placed')
    const own = await store.ordersRevision('acme')
    await store.putProduct('a', draft(), {})
    await store.putStock('a', stocked(7).onHand as never, {})
    t.ok(seen.has(await store.ordersRevision()), 'a product and its stock')
    await store.changeOrder(order.id, purchase([item('a', 2)]), {})
    await changes('changed')
    await store.setOrderStatus(order.id, 'shipped', {})
    await changes('shipped')
    const changed = await store.ordersRevision('acme')
    t.not(changed, own)
    await store.placeOrder(placing('a', 1, { customer: 'other' }))
    await changes('placed by another customer')
    t.equal(await store.ordersRevision('acme'), changed, "another customer's order")
    await untilLater()
    await store.pruneEvents(Date.now() + 1, 1000)
    await store.putProduct('a', draft({ name: 'Other' }), {})
    await untilLater()
    await store.pruneEvents(Date.now() + 1000, 1000)
    await changes('the events of orders are gone')
    t.not(await store.ordersRevision('acme'), changed)
  })
}
