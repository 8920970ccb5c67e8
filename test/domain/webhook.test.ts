import t from 'tap'
import type { Audience, EventHead, EventType } from '../../domain/event.ts'
import { hasValidKey, mostWebhooks, requireHeard, requireValidKey } from '../../domain/webhook.ts'

const event = (type: EventType, customer?: string): EventHead => ({
  id: 'e',
  position: 1,
  weight: 0,
  type,
  subject: 's',
  version: 1,
  at: 0,
  ...(customer === undefined ? {} : { customer })
})

t.test('only an event that a webhook hears is sent again', async (t) => {
  const audience: Audience = { types: ['product-changed'], own: { customer: 'Harbour', types: ['order-placed'] } }
  for (const heard of [event('product-changed'), event('order-placed', 'Harbour')]) t.equal(requireHeard(audience, heard), heard)
  for (const other of [undefined, event('product-deleted'), event('order-placed'), event('order-placed', 'Quay')]) {
    t.throws(() => requireHeard(audience, other), { code: 'unknown-event', message: /There is no event with this id/ })
  }
})

t.test('a webhook whose key has ended delivers nothing', async (t) => {
  for (const scopes of [['order'], []] as const) {
    t.ok(hasValidKey({ scopes }))
    t.doesNotThrow(() => requireValidKey({ scopes }))
  }
  t.notOk(hasValidKey({ scopes: undefined }))
  t.throws(() => requireValidKey({ scopes: undefined }), { code: 'unknown-event', message: /was revoked or has expired/ })
})

t.test('a customer has at most 20 webhooks, and a shop 1,000 active ones', async (t) => {
  t.same(mostWebhooks, { ofCustomer: 20, inAll: 1_000 })
})
