import { DomainError, PositionError } from '../../domain/errors.ts'
import { type Audience, audienceOf, type EventHead, everyone, narrow } from '../../domain/event.ts'
import { decimal } from '../../domain/money.ts'
import type { Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, item, placing, purchase, stocked } from './fixtures.ts'

/** All events that an audience hears, in pages of a few. */
async function heard(store: Store, audience: Audience = everyone): Promise<EventHead[]> {
  const all: EventHead[] = []
  for (;;) {
    const after = all.at(-1)?.id
    const page = await store.eventHeads({ audience, limit: 3, ...(after === undefined ? {} : { after }) })
    if (page.length === 0) return all
    all.push(...page)
  }
}

const brief = (heads: readonly EventHead[]) => heads.map(({ type, subject, version }) => `${type} ${subject} ${version}`)

const key = (customer: string, ...scopes: readonly ('order' | 'catalogue' | 'fulfilment')[]) =>
  ({ kind: 'key', keyId: customer, customer, scopes }) as const

export function eventContract(rule: Rule): void {
  rule('every change of an order makes its events, with the whole order as it was then', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const { order: placed } = await store.placeOrder(placing('a', 2, { customer: 'acme' }))
    const changed = await store.changeOrder(placed.id, purchase([item('a', 5)]), { version: 1 })
    await store.setOrderStatus(placed.id, 'shipped', {})
    const completed = await store.setOrderStatus(placed.id, 'completed', {})
    const heads = await heard(store, narrow(everyone, ['order-placed', 'order-changed', 'order-status-changed', 'order-shipped']))
    t.same(brief(heads), [
      `order-placed ${placed.id} 1`,
      `order-changed ${placed.id} 2`,
      `order-shipped ${placed.id} 3`,
      `order-status-changed ${placed.id} 3`,
      `order-status-changed ${placed.id} 4`
    ])
    const events = await store.events(heads)
    t.same(events[0]?.order, placed)
    t.same(events[1]?.order, changed)
    t.same(
      events.map(({ order }) => order?.status),
      ['accepted', 'accepted', 'shipped', 'shipped', 'completed']
    )
    t.same(events[4]?.order, completed)
    t.same(
      heads.map(({ at }) => at),
      events.map(({ order }) => order?.modifiedAt)
    )
    t.same(new Set(heads.map(({ customer }) => customer)), new Set(['acme']))
  })

  for (const [size, notes] of [
    ['small', []],
    ['large', ['x'.repeat(3_000), 'y'.repeat(3_000)]],
    ['deferred', Array.from({ length: 12 }, () => 'x'.repeat(3_000))]
  ] as const) {
    rule(
      `a ${size} order that is changed many times at once has an event for each version, each with its own content`,
      async (t, store) => {
        await store.createProduct('a', stocked(1_000))
        const { order } = await store.placeOrder({ order: purchase([item('a', 1)], { notes, orderNumber: 'PO-1' }), status: 'accepted' })
        const writes = Array.from({ length: 20 }, (_, i) =>
          i % 5 === 4
            ? store.setOrderStatus(order.id, 'accepted', {})
            : store.changeOrder(order.id, purchase([item('a', i + 2)], { notes, orderNumber: `PO-${i + 2}` }), {})
        )
        await Promise.all(writes)
        const last = await store.setOrderStatus(order.id, 'shipped', {})
        const events = await store.events(await heard(store, narrow(everyone, ['order-placed', 'order-changed', 'order-status-changed'])))
        t.same(
          events.map(({ version, order }) => [version, order?.version]),
          Array.from({ length: 18 }, (_, i) => [i + 1, i + 1])
        )
        const numbers = events.slice(0, -1).map((event) => event.order?.orderNumber)
        t.same(
          numbers,
          events.slice(0, -1).map((event) => `PO-${event.order?.items[0]?.quantity}`)
        )
        t.same(events[0]?.order, order)
        t.same(events.at(-1)?.order, last)
        t.equal(new Set(events.slice(0, -1).map((event) => String(event.order?.items[0]?.quantity))).size, 17)
      }
    )
  }

  rule('products and stock make events: created, changed, deleted, counted, and sold out by an order', async (t, store) => {
    await store.createProduct('a', stocked(1))
    await store.putProduct('a', draft({ name: 'Saw' }), {})
    await store.putStock('a', decimal('2'), {})
    await store.placeOrder(placing('a', 2))
    await store.importProducts([
      { id: 'a', draft: draft({ name: 'Saw', onHand: decimal('4') }) },
      { id: 'b', draft: draft() },
      { id: 'b', draft: draft() }
    ])
    await store.deleteProduct('a', {})
    const audience = narrow(everyone, ['product-created', 'product-changed', 'product-deleted', 'stock-set'])
    t.same(brief(await heard(store, audience)), [
      'product-created a 1',
      'stock-set a 1',
      'product-changed a 2',
      'stock-set a 2',
      'product-changed a 3',
      'product-changed a 4',
      'stock-set a 4',
      'product-created b 1',
      'product-deleted a 5'
    ])
  })

  rule('a write that changes nothing makes no event: refusals, repeats, replays, dry runs', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const idempotency = { scope: 'guests /order', key: 'k'.repeat(20), fingerprint: 'f' }
    const { order } = await store.placeOrder(placing('a', 1, { idempotency }))
    const before = await store.lastEvent()
    await store.placeOrder(placing('a', 1, { idempotency }))
    await store.placeOrder(placing('a', 1, { mode: 'dry-run' }))
    await store.setOrderStatus(order.id, 'accepted', {})
    await store.importProducts([{ id: 'b', draft: draft() }], 'dry-run')
    await store.importProducts([{ id: 'a', draft: draft() }])
    await t.rejects(store.placeOrder(placing('a', 100)), DomainError)
    await t.rejects(store.createProduct('a', draft()), DomainError)
    await t.rejects(store.deleteProduct('a', { version: 7 }), DomainError)
    t.same(await store.lastEvent(), before)
  })

  rule('positions have no gap, however many writers there are and however many are refused', async (t, store) => {
    await store.createProduct('a', stocked(30))
    const writes = Array.from({ length: 120 }, (_, i) =>
      i % 3 === 0
        ? store.createProduct(`p${i % 40}`, draft()).catch(() => {})
        : store.placeOrder(placing('a', 1, { customer: `c${i % 7}` })).catch(() => {})
    )
    await Promise.all(writes)
    const heads = await heard(store)
    t.same(
      heads.map(({ position }) => position),
      heads.map((_, i) => i + 1)
    )
    t.equal(heads.filter(({ type }) => type === 'order-placed').length, 30)
    t.equal(new Set(heads.map(({ id }) => id)).size, heads.length)
    t.same(await store.lastEvent(), heads.at(-1))
  })

  rule('a caller hears what its scopes allow', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order: acme } = await store.placeOrder(placing('a', 1, { customer: 'acme' }))
    const { order: other } = await store.placeOrder(placing('a', 1, { customer: 'other' }))
    const { order: guest } = await store.placeOrder(placing('a', 1))
    const of = async (...args: Parameters<typeof key>) => brief(await heard(store, audienceOf(key(...args))))
    const [created, counted] = ['product-created a 1', 'stock-set a 1']
    const [ofAcme, ofOther, ofGuest] = [acme, other, guest].map(({ id }) => `order-placed ${id} 1`)
    t.same(await of('acme', 'order'), [created, ofAcme])
    t.same(await of('acme', 'catalogue'), [created, counted])
    t.same(await of('acme', 'order', 'catalogue'), [created, counted, ofAcme])
    t.same(await of('erp', 'fulfilment'), [created, ofAcme, ofOther, ofGuest])
    t.same(await of('erp', 'fulfilment', 'catalogue', 'order'), [created, counted, ofAcme, ofOther, ofGuest])
    t.same(await heard(store, audienceOf({ kind: 'guest' })), [])
  })

  rule('old events are deleted, the oldest first, but never the newest; a cursor of a deleted one is refused', async (t, store) => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await store.createProduct(id, draft())
    const heads = await heard(store)
    t.equal(await store.pruneEvents(0, 100), 0)
    t.equal(await store.pruneEvents(Date.now() + 60_000, 2), 2)
    t.same(await heard(store), heads.slice(2))
    t.equal(await store.pruneEvents(Date.now() + 60_000, 100), 2)
    t.equal(await store.pruneEvents(Date.now() + 60_000, 100), 0)
    t.same(await heard(store), heads.slice(4))
    await store.createProduct('f', draft())
    t.equal((await store.lastEvent())?.position, 6)
    for (const after of [heads[0]?.id ?? '', 'x', '', '00000000-0000-7000-8000-000000000000'])
      await t.rejects(store.eventHeads({ audience: everyone, limit: 1, after }), PositionError)
    t.same(await store.events(heads.slice(0, 2)), [], 'an event that is gone is left out')
  })
}
