import { randomUUID } from 'node:crypto'
import type { Scope } from '../../domain/caller.ts'
import type { EventType } from '../../domain/event.ts'
import type { Store } from '../../domain/store.ts'
import { type ClaimedWebhook, hearing, mostDeliveries, mostWebhooks, type NewWebhook, type Webhook } from '../../domain/webhook.ts'
import type { Rule } from './contract.ts'
import { everything, placing, stocked, untilLater } from './fixtures.ts'

interface Wanted {
  readonly customer?: string
  readonly scopes?: readonly Scope[]
  readonly types?: readonly EventType[]
  readonly expiresAt?: number
}

/** A webhook that can be made, of a key of its own. */
async function draft(store: Store, { customer = 'ERP', scopes = ['fulfilment'], types = [], expiresAt }: Wanted = {}): Promise<NewWebhook> {
  const hash = randomUUID().replaceAll('-', '').repeat(2)
  const key = await store.createKey({ customer, scopes, hash, ...(expiresAt === undefined ? {} : { expiresAt }) })
  return {
    url: 'https://erp.example/hooks',
    types,
    mediaType: 'application/json',
    status: 'active',
    owner: { customer, keyId: key.id },
    hears: hearing(types, { kind: 'key', keyId: key.id, customer, scopes })
  }
}

export async function makeWebhook(store: Store, wanted: Wanted = {}): Promise<Webhook> {
  return store.createWebhook(await draft(store, wanted), 'whsec_one')
}

/** What a webhook's worker is given, event by event, until nothing is left. */
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

const claimOf = (claimed: ClaimedWebhook | undefined) => ({ id: claimed?.id ?? '', version: claimed?.version ?? 0 })
const attempt = (eventId: string, more: object = {}) => ({ eventId, attempt: 1, at: 5, durationMs: 7, ...more })

export function webhookContract(rule: Rule): void {
  rule('a webhook is kept as it was made, and is seen and changed by its customer only', async (t, store) => {
    const made = await makeWebhook(store, { types: ['order-placed'] })
    t.match(made, {
      version: 1,
      url: 'https://erp.example/hooks',
      types: ['order-placed'],
      mediaType: 'application/json',
      status: 'active'
    })
    t.same(await store.webhook(made.id, 'ERP'), made)
    t.same(await store.webhooks('ERP'), [made])
    t.same(await store.webhooks('other'), [])
    const other = await draft(store, { customer: 'other' })
    const missing = { code: 'webhook-not-found' }
    for (const id of [made.id, randomUUID(), 'x']) {
      await t.rejects(store.webhook(id, 'other'), missing)
      await t.rejects(store.changeWebhook(id, other, {}), missing)
      await t.rejects(store.addWebhookSecret(id, 'other', 'x'), missing)
      await t.rejects(store.deleteWebhook(id, 'other', {}), missing)
      await t.rejects(store.deliveries(id, 'other', { limit: 1 }), missing)
      await t.rejects(store.redelivery(id, 'other', randomUUID()), missing)
    }
    const changed = await store.changeWebhook(
      made.id,
      { ...(await draft(store)), url: 'https://new.example/', status: 'disabled' },
      { version: 1 }
    )
    t.match(changed, { id: made.id, version: 2, url: 'https://new.example/', types: [], status: 'disabled' })
    await t.rejects(store.changeWebhook(made.id, await draft(store), { version: 1 }), { code: 'precondition-failed' })
    await t.rejects(store.deleteWebhook(made.id, 'ERP', { version: 1 }), { code: 'precondition-failed' })
    await store.deleteWebhook(made.id, 'ERP', { version: 2 })
    await t.rejects(store.webhook(made.id, 'ERP'), missing)
  })

  rule('the number of webhooks of a customer is limited', async (t, store) => {
    const wanted = await draft(store)
    const made = await Promise.allSettled(Array.from({ length: mostWebhooks.ofCustomer + 5 }, () => store.createWebhook(wanted, 's')))
    t.equal(made.filter(({ status }) => status === 'fulfilled').length, mostWebhooks.ofCustomer)
    await t.rejects(store.createWebhook(wanted, 's'), { code: 'too-many-webhooks' })
    await t.resolves(makeWebhook(store, { customer: 'other' }))
  })

  rule('the number of all webhooks is limited, and those of a revoked key do not count', async (t, store) => {
    const customers = Array.from({ length: mostWebhooks.inAll / mostWebhooks.ofCustomer }, (_, i) => `customer ${i}`)
    const drafts = await Promise.all(customers.map((customer) => draft(store, { customer })))
    for (const wanted of drafts) await Promise.all(Array.from({ length: mostWebhooks.ofCustomer }, () => store.createWebhook(wanted, 's')))
    await t.rejects(makeWebhook(store), { code: 'too-many-webhooks' })
    await store.revokeKey(drafts[0]?.owner.keyId ?? '')
    await t.resolves(makeWebhook(store))
  })

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
    const failed = { delivery: attempt(eventId, { status: 500 }), step: { kind: 'retry', in: 60_000 } } as const
    t.equal(await store.settleWebhook('w', claimOf(claimed), failed), undefined)
    t.same(await store.claimWebhooks('w', 1), [], 'not before it is due')
    await store.changeWebhook(id, await draft(store), {})
    const [again] = await store.claimWebhooks('w', 1)
    t.match(again, { next: { id: eventId }, failures: 0 }, 'its owner changed it: at once, as if for the first time')
    await store.settleWebhook('w', claimOf(again), { ...failed, step: { kind: 'retry', in: 0 } })
    await untilLater()
    t.match(await store.claimWebhooks('w', 1), [{ next: { id: eventId }, failures: 1 }])
    const next = await store.settleWebhook('w', claimOf(again), { step: { kind: 'delivered', position: claimed?.next.position ?? 0 } })
    t.match(next, { failures: 0, next: { subject: 'B' } })
  })

  rule('an attempt in flight undoes no change of its webhook, and is logged', async (t, store) => {
    await store.createProduct('A', stocked(5))
    for (const step of [
      { kind: 'retry', in: 60_000 },
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
      t.same((await store.deliveries(id, 'ERP', { limit: 5 })).items, [delivery])
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
    await store.settleWebhook('w', claimOf(claimed), { delivery: attempt(eventId, { status: 500 }), step: { kind: 'retry', in: 0 } })
    await untilLater()
    t.notMatch((await store.claimWebhooks('w', 1))[0], { lost: String })
    await store.createProduct('B', stocked(5))
    await store.pruneEvents(Number.MAX_SAFE_INTEGER, 1)
    const [next] = await store.claimWebhooks('w', 1)
    t.match(next, { id, lost: eventId, next: { subject: 'B' } })
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

  rule('the secret before the newest is valid for a day, and no earlier one', async (t, store) => {
    const { id } = await makeWebhook(store)
    t.match(await store.addWebhookSecret(id, 'ERP', 'whsec_two'), { version: 2 })
    await store.addWebhookSecret(id, 'ERP', 'whsec_three')
    await store.createProduct('A', stocked(5))
    t.match(await store.claimWebhooks('w', 1), [{ secrets: ['whsec_three', 'whsec_two'] }])
  })

  rule('the newest deliveries are kept, page by page, the newest first', async (t, store) => {
    const { id } = await makeWebhook(store)
    await store.createProduct('A', stocked(5))
    const [claimed] = await store.claimWebhooks('w', 1)
    const eventId = claimed?.next.id ?? ''
    t.same(await store.deliveries(id, 'ERP', { limit: 5 }), { items: [] })
    for (let n = 1; n <= mostDeliveries + 5; n++) await store.logDelivery(id, attempt(eventId, { attempt: n, failure: 'It broke.' }))
    const step = { kind: 'delivered', position: claimed?.next.position ?? 0 } as const
    await store.settleWebhook('w', claimOf(claimed), { delivery: attempt(eventId, { attempt: 999, status: 204 }), step })
    const all = await everything((after) => store.deliveries(id, 'ERP', { limit: 7, ...after }))
    t.equal(all.length, mostDeliveries)
    t.same(all[0], attempt(eventId, { attempt: 999, status: 204 }))
    t.same(all[1], attempt(eventId, { attempt: mostDeliveries + 5, failure: 'It broke.' }))
    await t.rejects(store.deliveries(id, 'ERP', { limit: 1, after: 'x' }), { name: 'PositionError' })
    await t.resolves(store.logDelivery(randomUUID(), attempt(eventId)), 'of a webhook that was deleted meanwhile')
  })

  rule('an event that the webhook delivers can be sent again', async (t, store) => {
    const { id } = await makeWebhook(store, { customer: 'acme', scopes: ['order'] })
    await store.createProduct('A', stocked(5))
    const event = await store.lastEvent()
    const mine = await store.eventHeads({ audience: { types: ['product-created'] }, limit: 1 })
    t.match(await store.redelivery(id, 'acme', mine[0]?.id ?? ''), { webhook: { id, secrets: ['whsec_one'] }, event: mine[0] })
    t.equal(event?.type, 'stock-set')
    for (const wrong of [event?.id ?? '', randomUUID(), 'x'])
      await t.rejects(store.redelivery(id, 'acme', wrong), { code: 'unknown-event' })
  })
}
