import type { Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { placing, stocked, untilLater } from './fixtures.ts'
import { attempt, claimOf, draft, makeWebhook } from './webhook-fixtures.ts'

/** The events that the worker of a webhook gets, one by one, until none is left. */
async function deliverAll(store: Store, worker: string): Promise<Map<string, string[]>> {
  const delivered = new Map<string, string[]>()
  for (const claimed of await store.claimWebhooks(worker, 100)) {
    const types: string[] = []
    for (let next: typeof claimed | undefined = claimed; next; ) {
      types.push(next.next.type)
      next = await store.settleWebhook(worker, next, { step: { kind: 'delivered', position: next.next.position } })
    }
    delivered.set(claimed.id, types)
  }
  return delivered
}

/** The rules of the store for a dispatcher of webhooks. */
export function webhookClaimContract(rule: Rule): void {
  rule('a webhook is given the events after it was made that its key hears, in order', async (t, store) => {
    await store.createProduct('P', stocked(5))
    const [seller, catalogue, own, stranger, placedOnly] = await Promise.all([
      makeWebhook(store),
      makeWebhook(store, { customer: 'PIM', scopes: ['catalogue'] }),
      makeWebhook(store, { customer: 'acme', scopes: ['order'] }),
      makeWebhook(store, { customer: 'stranger', scopes: ['order'] }),
      makeWebhook(store, { types: ['order-placed'] })
    ])
    t.same(await store.claimWebhooks('w', 10), [], 'earlier events are not delivered')
    const { order } = await store.placeOrder(placing('P', 1, { customer: 'acme' }))
    await store.setOrderStatus(order.id, 'shipped', {})
    await store.putProduct('P', { ...stocked(9), name: 'Other' }, {})
    const delivered = await deliverAll(store, 'w')
    t.same(delivered.get(seller.id), ['order-placed', 'order-shipped', 'order-status-changed', 'product-changed'])
    t.same(delivered.get(catalogue.id), ['product-changed', 'stock-set'])
    t.same(delivered.get(own.id), delivered.get(seller.id))
    t.same(delivered.get(stranger.id), ['product-changed'])
    t.same(delivered.get(placedOnly.id), ['order-placed'])
    t.equal((await deliverAll(store, 'w')).size, 0, 'each once')
  })

  rule('a webhook is claimed once, until its worker settles it or says that it does not serve it', async (t, store) => {
    await store.createProduct('P', stocked(50))
    const made = await Promise.all(Array.from({ length: 6 }, (_, i) => makeWebhook(store, { customer: `c${i}` })))
    await store.placeOrder(placing('P'))
    const some = await store.claimWebhooks('w', 2)
    const serving = some.map(({ id }) => id)
    const others = await store.claimWebhooks('w', 10, { serving })
    const ids = [...some, ...others].map(({ id }) => id)
    t.same([some.length, others.length], [2, 4])
    t.same(ids.toSorted(), made.map(({ id }) => id).toSorted())
    t.same(await store.claimWebhooks('w', 10, { serving: ids }), [])
    const [first] = some
    t.match(first, { customer: /^c\d$/, failures: 0, secrets: ['whsec_one'], scopes: ['fulfilment'], next: { type: 'order-placed' } })
    const step = { kind: 'delivered', position: first?.next.position ?? 0 } as const
    t.equal(await store.settleWebhook('other', claimOf(first), { step }), undefined, 'another worker has no claim')
    t.equal((await store.claimWebhooks('w', 10, { serving })).length, 4, 'claims that the worker never heard of')
    await store.releaseWebhooks('w')
    t.equal((await store.claimWebhooks('other', 10)).length, 6)
    t.equal(await store.settleWebhook('w', claimOf(first), { step }), undefined, 'a claim that another worker took')
  })

  rule('a failed event is given again when it is due, and later ones wait for it', async (t, store) => {
    const { id } = await makeWebhook(store)
    await store.createProduct('A', stocked(5))
    await store.createProduct('B', stocked(5))
    const [claimed] = await store.claimWebhooks('w', 1)
    const eventId = claimed?.next.id ?? ''
    const failed = { delivery: attempt(eventId, { status: 500 }), step: { kind: 'retry', in: 60_000, failures: 1 } } as const
    t.equal(await store.settleWebhook('w', claimOf(claimed), failed), undefined)
    t.same(await store.claimWebhooks('w', 1), [], 'not before it is due')
    await store.changeWebhook(id, await draft(store), {})
    const [again] = await store.claimWebhooks('w', 1)
    t.match(again, { next: { id: eventId }, failures: 0 }, 'its owner changed it: at once, as if for the first time')
    await store.settleWebhook('w', claimOf(again), { ...failed, step: { kind: 'retry', in: 0, failures: 1 } })
    await untilLater()
    t.match(await store.claimWebhooks('w', 1), [{ next: { id: eventId }, failures: 1 }])
    const next = await store.settleWebhook('w', claimOf(again), { step: { kind: 'delivered', position: claimed?.next.position ?? 0 } })
    t.match(next, { failures: 0, next: { subject: 'B' } })
  })

  rule('an attempt in flight undoes no change of its webhook, and is logged', async (t, store) => {
    await store.createProduct('A', stocked(5))
    for (const step of [
      { kind: 'retry', in: 60_000, failures: 1 },
      { kind: 'postpone', in: 60_000 },
      { kind: 'disable', reason: 'It answered 410.' },
      { kind: 'delivered', position: Number.MAX_SAFE_INTEGER }
    ] as const) {
      const { id } = await makeWebhook(store)
      await store.putProduct('A', { ...stocked(5), name: step.kind }, {})
      const claimed = (await store.claimWebhooks('w', 10)).find((one) => one.id === id)
      t.match(claimed, { version: 1, next: { subject: 'A' } })
      await store.changeWebhook(id, { ...(await draft(store)), url: 'https://new.example/' }, {})
      t.equal(await store.renewClaim('w', claimOf(claimed)), false)
      const delivery = attempt(claimed?.next.id ?? '', { status: 500 })
      t.equal(await store.settleWebhook('w', claimOf(claimed), { delivery, step }), undefined, step.kind)
      t.match(await store.webhook(id, 'ERP'), { version: 2, status: 'active', url: 'https://new.example/' })
      t.same((await store.deliveries(id, 'ERP', { limit: 5 })).items, [{ ...delivery, type: claimed?.next.type }])
      const again = (await store.claimWebhooks('other', 10)).find((one) => one.id === id)
      t.match(again, { version: 2, failures: 0, next: { id: claimed?.next.id } }, 'its claim has ended, and it is due')
      await store.deleteWebhook(id, 'ERP', {})
    }
  })

  rule('a claim can be renewed, and given up with the next event waiting', async (t, store) => {
    const [one, two] = [await makeWebhook(store), await makeWebhook(store)]
    await store.createProduct('A', stocked(5))
    await store.createProduct('B', stocked(5))
    const [first, second] = await store.claimWebhooks('w', 2)
    t.equal(await store.renewClaim('w', claimOf(first)), true)
    t.equal(await store.renewClaim('other', claimOf(first)), false)
    const position = first?.next.position ?? 0
    t.equal(await store.settleWebhook('w', claimOf(first), { step: { kind: 'delivered', position, yields: true } }), undefined)
    t.equal(await store.renewClaim('w', claimOf(first)), false)
    await store.settleWebhook('w', claimOf(second), { step: { kind: 'postpone', in: 0 } })
    await untilLater()
    const again = await store.claimWebhooks('w', 2)
    t.same(new Set(again.map(({ id }) => id)), new Set([one.id, two.id]))
    t.match(again.find(({ id }) => id === first?.id)?.next, { subject: 'B' })
    t.match(
      again.find(({ id }) => id === second?.id),
      { failures: 0, next: second?.next }
    )
  })

  rule('webhooks that hear an event after a position are claimed without a look at the others', async (t, store) => {
    const products = await makeWebhook(store, { types: ['product-created'] })
    const acme = await makeWebhook(store, { customer: 'acme', scopes: ['order'], types: ['order-placed'] })
    await makeWebhook(store, { customer: 'other', scopes: ['order'], types: ['order-placed'] })
    await store.createProduct('A', stocked(5))
    const { position = 0 } = (await store.lastEvent()) ?? {}
    await store.placeOrder(placing('A', 1, { customer: 'acme' }))
    const idsSince = async (since: number) => (await store.claimWebhooks('w', 10, { since })).map(({ id }) => id)
    t.same(await idsSince(position), [acme.id])
    t.same(await idsSince((await store.lastEvent())?.position ?? 0), [])
    t.same((await idsSince(0)).toSorted(), [acme.id, products.id].toSorted())
  })

  rule('a webhook whose event was deleted before it was delivered is told which', async (t, store) => {
    const { id } = await makeWebhook(store)
    await store.createProduct('A', stocked(5))
    const [claimed] = await store.claimWebhooks('w', 1)
    const eventId = claimed?.next.id ?? ''
    await store.settleWebhook('w', claimOf(claimed), {
      delivery: attempt(eventId, { status: 500 }),
      step: { kind: 'retry', in: 0, failures: 1 }
    })
    await untilLater()
    t.notMatch((await store.claimWebhooks('w', 1))[0], { lost: String })
    await store.createProduct('B', stocked(5))
    await store.pruneEvents(Number.MAX_SAFE_INTEGER, 1)
    const [next] = await store.claimWebhooks('w', 1)
    t.match(
      next,
      { id, lost: eventId, next: { subject: 'B' }, failures: 0 },
      'the failures of the deleted event are not those of the next one'
    )
    await store.createProduct('C', stocked(5))
    const step = { kind: 'delivered', position: next?.next.position ?? 0 } as const
    const after = await store.settleWebhook('w', claimOf(next), { delivery: attempt(next?.next.id ?? '', { status: 204 }), step })
    t.match(after, { next: { subject: 'C' } })
    t.notMatch(after, { lost: String }, 'once')
  })

  rule('a webhook that is disabled makes an event, and waits until its owner makes it active', async (t, store) => {
    const { id } = await makeWebhook(store)
    const other = await makeWebhook(store)
    await store.createProduct('A', stocked(5))
    await store.claimWebhooks('w', 5)
    t.equal(await store.settleWebhook('w', { id, version: 1 }, { step: { kind: 'disable', reason: 'Because.' } }), undefined)
    t.match(await store.webhook(id, 'ERP'), { version: 2, status: 'disabled', reason: 'Because.' })
    t.match(await store.lastEvent(), { type: 'webhook-disabled', subject: id, version: 2, customer: 'ERP' })
    await store.releaseWebhooks('w')
    t.same(
      (await store.claimWebhooks('w', 5)).map(({ id }) => id),
      [other.id]
    )
    t.notMatch(await store.changeWebhook(id, await draft(store), {}), { reason: String })
    t.match(await store.claimWebhooks('w', 5, { serving: [other.id] }), [{ id, next: { subject: 'A' } }], 'it goes on where it was')
  })

  rule('a webhook whose key was revoked or has expired is given no scopes', async (t, store) => {
    const wanted = await draft(store)
    await store.createWebhook(wanted, 's')
    await makeWebhook(store, { expiresAt: 5 })
    await store.revokeKey(wanted.owner.keyId)
    await store.createProduct('A', stocked(5))
    const claimed = await store.claimWebhooks('w', 5)
    t.equal(claimed.length, 2)
    for (const { scopes } of claimed) t.equal(scopes, undefined)
  })
}
