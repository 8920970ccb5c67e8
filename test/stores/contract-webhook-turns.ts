import type { Store } from '../../domain/store.ts'
import type { ClaimedWebhook } from '../../domain/webhook.ts'
import type { Rule } from './contract.ts'
import { draft, stocked } from './fixtures.ts'
import { makeWebhook } from './webhook-fixtures.ts'

const customersOf = (claimed: readonly ClaimedWebhook[]) => claimed.map(({ customer }) => customer)
const idsOf = (claimed: readonly ClaimedWebhook[]) => claimed.map(({ id }) => id)

async function makeWebhooks(store: Store, counts: Readonly<Record<string, number>>): Promise<void> {
  for (const [customer, count] of Object.entries(counts)) for (let i = 0; i < count; i++) await makeWebhook(store, { customer })
}

export function webhookTurnsContract(rule: Rule): void {
  rule('customers share the claims of a worker, however many webhooks each has', async (t, store) => {
    await makeWebhooks(store, { many: 5, two: 2, one: 1 })
    await store.createProduct('P', stocked(5))
    const first = await store.claimWebhooks('w', 4)
    t.same(customersOf(first), ['many', 'two', 'one', 'many'], 'each has one before any has two')
    const second = await store.claimWebhooks('w', 10, { serving: idsOf(first), perCustomer: 3 })
    t.same(customersOf(second), ['two', 'many'], 'what is served counts')
    const serving = idsOf([...first, ...second])
    t.same(await store.claimWebhooks('w', 10, { serving, perCustomer: 3 }), [])
  })

  rule('a customer that has no claim comes before those that have', async (t, store) => {
    await makeWebhooks(store, { many: 4 })
    await store.createProduct('P', stocked(5))
    const serving = idsOf(await store.claimWebhooks('w', 2))
    await makeWebhooks(store, { late: 1 })
    await store.createProduct('Q', stocked(5))
    t.same(customersOf(await store.claimWebhooks('w', 1, { serving })), ['late'])
  })

  rule('the backlog says how many webhooks wait, for what, and since when they could have been served', async (t, store) => {
    t.same(await store.webhookBacklog(), { waiting: 0 })
    await makeWebhooks(store, { a: 2 })
    t.same(await store.webhookBacklog(), { waiting: 0 }, 'nothing has happened')
    await store.createProduct('P', draft())
    const { at = 0 } = (await store.lastEvent()) ?? {}
    t.same(await store.webhookBacklog(), { waiting: 2, oldestAt: at, dueSince: at })
    const [one, two] = await store.claimWebhooks('w', 2)
    t.same(await store.webhookBacklog(), { waiting: 2, oldestAt: at }, 'both are served')
    if (!one || !two) throw new Error('a webhook was not claimed')
    await store.settleWebhook('w', one, { step: { kind: 'delivered', position: one.next.position } })
    t.same(await store.webhookBacklog(), { waiting: 1, oldestAt: at })
    await store.settleWebhook('w', two, { step: { kind: 'retry', in: 60_000, failures: 1 } })
    t.same(await store.webhookBacklog(), { waiting: 1, oldestAt: at }, 'it waits for its next attempt')
    await store.changeWebhook(two.id, { ...two, types: [], status: 'disabled', owner: two, hears: { types: [] } }, {})
    t.same(await store.webhookBacklog(), { waiting: 0 }, 'one that is disabled waits for nothing')
  })
}
