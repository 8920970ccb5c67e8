import { test } from 'tap'
import { mostWebhooks, validSecrets } from '../../domain/webhook.ts'
import { decideNewSecret, decideNewWebhook, decideWebhookChange } from '../../domain/webhook-writes.ts'
import { wanted } from './wanted-webhook.ts'

const shop = { ofCustomer: 0, inAll: 0, position: 7, now: 1000 }
const made = decideNewWebhook('w', wanted, 'one', shop)
const disabled = {
  ...made,
  webhook: { ...made.webhook, version: 4, status: 'disabled' as const, reason: 'gone' },
  schedule: { position: 9, failures: 3, nextAttemptAt: 5000 }
}

test('a new webhook has the first version, delivers what comes after the newest event, and has one secret', (t) => {
  const { owner, ...settings } = wanted
  t.strictSame(made, {
    webhook: { ...settings, id: 'w', version: 1, createdAt: 1000, modifiedAt: 1000 },
    owner,
    secrets: [{ secret: 'one' }],
    schedule: { position: 7, failures: 0, nextAttemptAt: 0 }
  })
  const inactive = { ...wanted, status: 'disabled' } as const
  const tooMany = { code: 'too-many-webhooks' }
  for (const wants of [wanted, inactive])
    t.throws(() => decideNewWebhook('w', wants, 'one', { ...shop, ofCustomer: mostWebhooks.ofCustomer }), tooMany, wants.status)
  const full = { ...shop, inAll: mostWebhooks.inAll }
  t.throws(() => decideNewWebhook('w', wanted, 'one', full), tooMany)
  t.equal(decideNewWebhook('w', inactive, 'one', full).webhook.status, 'disabled')
  t.end()
})

const room = { others: 0, own: 0, now: 2000 }

test('a webhook becomes active only if one more may be, and one that was active stays so', (t) => {
  const full = { ...room, others: mostWebhooks.inAll }
  t.throws(() => decideWebhookChange(disabled, wanted, {}, full), { code: 'too-many-webhooks' })
  t.equal(decideWebhookChange(disabled, wanted, {}, { ...full, others: mostWebhooks.inAll - 1 }).webhook.status, 'active')
  t.equal(decideWebhookChange(disabled, { ...wanted, status: 'disabled' }, {}, full).webhook.status, 'disabled')
  t.equal(decideWebhookChange(made, wanted, {}, { ...full, own: 1 }).webhook.status, 'active')
  t.end()
})

test('a change replaces the settings and the key, keeps place and secrets, and forgets the failures', (t) => {
  const owner = { customer: 'Harbour', keyId: 'k_2' }
  const settings = {
    url: 'https://new.example/',
    types: ['order-placed'],
    mediaType: 'application/xml',
    hears: { types: ['order-placed'] }
  } as const
  const { webhook, ...rest } = decideWebhookChange(disabled, { ...wanted, ...settings, owner }, { version: 4 }, room)
  t.strictSame(webhook, { ...made.webhook, ...settings, version: 5, modifiedAt: 2000 }, 'without the reason')
  t.strictSame(rest, { owner, secrets: made.secrets, schedule: { position: 9, failures: 0, nextAttemptAt: 0 } })
  t.throws(() => decideWebhookChange(disabled, wanted, { version: 3 }, room), { code: 'precondition-failed' })
  t.end()
})

test('a new secret makes a version, keeps the one before for a day, and changes neither the settings nor the schedule', (t) => {
  const { webhook, secrets, ...rest } = decideNewSecret(disabled, 'two', { version: 4 }, 2000)
  t.strictSame(webhook, { ...disabled.webhook, version: 5, modifiedAt: 2000 })
  const end = 2000 + 86_400_000
  t.strictSame(secrets, [{ secret: 'two' }, { secret: 'one', expiresAt: end }], 'the one before is valid for a day')
  t.same(validSecrets(secrets, end - 1), ['two', 'one'])
  t.same(validSecrets(secrets, end), ['two'])
  t.strictSame(rest, { owner: disabled.owner, schedule: disabled.schedule })
  t.throws(() => decideNewSecret(disabled, 'two', { version: 3 }, 2000), { code: 'precondition-failed' })
  t.end()
})

test('the time of a webhook never goes back', (t) => {
  t.equal(decideWebhookChange(made, wanted, {}, { ...room, now: 500 }).webhook.modifiedAt, 1000)
  t.equal(decideNewSecret(made, 'two', {}, 500).webhook.modifiedAt, 1000)
  t.end()
})
