import { randomUUID } from 'node:crypto'
import type { Store } from '../../domain/store.ts'
import { mostDeliveries, mostWebhooks, type NewWebhook } from '../../domain/webhook.ts'
import type { Rule } from './contract.ts'
import { everything, stocked } from './fixtures.ts'
import { attempt, claimOf, draft, makeWebhook } from './webhook-fixtures.ts'

/** Makes as many active webhooks as a shop can have. */
async function fill(store: Store) {
  const customers = Array.from({ length: mostWebhooks.inAll / mostWebhooks.ofCustomer }, (_, i) => `customer ${i}`)
  const drafts = await Promise.all(customers.map((customer) => draft(store, { customer })))
  const made: { readonly id: string; readonly wanted: NewWebhook }[] = []
  for (const wanted of drafts) {
    const ofOne = Array.from({ length: mostWebhooks.ofCustomer }, async () => ({ id: (await store.createWebhook(wanted, 's')).id, wanted }))
    made.push(...(await Promise.all(ofOne)))
  }
  return made
}

/** The rules of the store for the webhooks of customers. */
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
      await t.rejects(store.addWebhookSecret(id, 'other', 'x', {}), missing)
      await t.rejects(store.deleteWebhook(id, 'other', {}), missing)
      await t.rejects(store.deliveries(id, 'other', { limit: 1 }), missing)
      await t.rejects(store.redelivery(id, 'other', randomUUID()), missing)
    }
    const changed = await store.changeWebhook(
      made.id,
      { ...(await draft(store)), url: 'https://new.example/', status: 'disabled' },
      { version: 1 }
    )
    t.match(changed, { id: made.id, version: 2, url: 'https://new.example/', status: 'disabled' })
    t.same(changed.types, [], 'the types are replaced')
    await t.rejects(store.changeWebhook(made.id, await draft(store), { version: 1 }), { code: 'precondition-failed' })
    await t.rejects(store.deleteWebhook(made.id, 'ERP', { version: 1 }), { code: 'precondition-failed' })
    await store.deleteWebhook(made.id, 'ERP', { version: 2 })
    await t.rejects(store.webhook(made.id, 'ERP'), missing)
  })

  rule('a webhook is made once under an id that its maker chooses', async (t, store) => {
    const [wanted, id] = [await draft(store), randomUUID()]
    const made = await Promise.all([1, 2, 3].map((number) => store.createWebhook(wanted, `whsec_${number}`, id)))
    t.equal(made.filter(({ isRepeated }) => isRepeated).length, 2)
    t.match(await store.webhooks('ERP'), [{ id, version: 1 }])
    await store.deleteWebhook(id, 'ERP', {})
    t.match(await store.createWebhook(wanted, 'whsec_new', id), { id, isRepeated: undefined }, 'it does not outlive the webhook')
  })

  rule('the number of webhooks of a customer is limited', async (t, store) => {
    const wanted = await draft(store)
    const made = await Promise.allSettled(Array.from({ length: mostWebhooks.ofCustomer + 5 }, () => store.createWebhook(wanted, 's')))
    t.equal(made.filter(({ status }) => status === 'fulfilled').length, mostWebhooks.ofCustomer)
    await t.rejects(store.createWebhook(wanted, 's'), { code: 'too-many-webhooks' })
    await t.resolves(makeWebhook(store, { customer: 'other' }))
  })

  rule('the active webhooks of a key are counted, whether or not it is still valid', async (t, store) => {
    const [wanted, other] = [await draft(store), await draft(store)]
    const { owner } = wanted
    t.equal(await store.activeWebhooksOf(owner), 0)
    const { id } = await store.createWebhook(wanted, 's')
    await store.createWebhook(wanted, 's')
    await store.createWebhook({ ...wanted, status: 'disabled' }, 's')
    await store.createWebhook(other, 's')
    t.equal(await store.activeWebhooksOf(owner), 2, 'of no other key, and none that is disabled')
    t.equal(await store.activeWebhooksOf({ ...owner, customer: 'other' }), 0)
    await store.revokeKey(owner.keyId)
    t.equal(await store.activeWebhooksOf(owner), 2)
    await store.changeWebhook(id, other, {})
    t.same([await store.activeWebhooksOf(owner), await store.activeWebhooksOf(other.owner)], [1, 2], 'a webhook belongs to the last key')
  })

  rule('the number of all webhooks is limited, and those of a revoked or expired key do not count', async (t, store) => {
    await makeWebhook(store, { customer: 'expired', expiresAt: 5 })
    const [first] = await fill(store)
    await t.rejects(makeWebhook(store), { code: 'too-many-webhooks' })
    await store.revokeKey(first?.wanted.owner.keyId ?? '')
    await t.resolves(makeWebhook(store))
  })

  rule('a webhook becomes active again only if the shop has room for one more', async (t, store) => {
    const wanted = await draft(store)
    const disabled = await Promise.all(Array.from({ length: 3 }, () => store.createWebhook({ ...wanted, status: 'disabled' }, 's')))
    const [one] = disabled
    const ofRevoked = await draft(store)
    const revoked = await store.createWebhook(ofRevoked, 's')
    await store.revokeKey(ofRevoked.owner.keyId)
    const [first] = await fill(store)
    if (!one || !first) throw new Error('the webhooks were made')
    const tooMany = { code: 'too-many-webhooks' }
    await t.rejects(store.changeWebhook(one.id, wanted, {}), tooMany)
    t.match(await store.webhook(one.id, 'ERP'), one)
    await t.rejects(store.changeWebhook(revoked.id, wanted, {}), tooMany, 'the webhook of a revoked key did not count before')
    const moved = { url: 'https://new.example/' }
    await t.resolves(store.changeWebhook(one.id, { ...wanted, ...moved, status: 'disabled' }, {}), 'it stays disabled')
    await t.resolves(store.changeWebhook(first.id, { ...first.wanted, ...moved }, {}), 'it was active before')
    await store.changeWebhook(first.id, { ...first.wanted, status: 'disabled' }, {})
    const activated = await Promise.allSettled(disabled.map(({ id }) => store.changeWebhook(id, wanted, {})))
    t.equal(activated.filter(({ status }) => status === 'fulfilled').length, 1, 'one gets the place of the one that was disabled')
    t.match(
      activated.filter(({ status }) => status === 'rejected'),
      [{ reason: tooMany }, { reason: tooMany }]
    )
    await store.revokeKey(wanted.owner.keyId)
    await t.resolves(store.changeWebhook(first.id, first.wanted, {}), 'its customer has as many webhooks as one can have')
  })

  rule('the secret before the newest is valid for a day, and no earlier one', async (t, store) => {
    const { id } = await makeWebhook(store)
    t.match(await store.addWebhookSecret(id, 'ERP', 'whsec_two', { version: 1 }), { version: 2 })
    await store.addWebhookSecret(id, 'ERP', 'whsec_three', {})
    await store.createProduct('A', stocked(5))
    await t.rejects(store.addWebhookSecret(id, 'ERP', 'whsec_four', { version: 2 }), { code: 'precondition-failed' })
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
    const { type } = claimed?.next ?? {}
    t.same(all[0], attempt(eventId, { type, attempt: 999, status: 204 }))
    t.same(all[1], attempt(eventId, { type, attempt: mostDeliveries + 5, failure: 'It broke.' }))
    await store.pruneEvents(Date.now() + 60_000, 100)
    const { items } = await store.deliveries(id, 'ERP', { limit: 1 })
    t.same(items, [attempt(eventId, { attempt: 999, status: 204 })], 'the type of an event that is not kept any more is not known')
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
