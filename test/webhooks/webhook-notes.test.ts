import t from 'tap'
import { mostWebhooks } from '../../domain/webhook.ts'
import { WebhookNotes } from '../../webhooks/webhook-notes.ts'

t.test('however many webhooks are made, fail and are deleted, the notes have a bound', async (t) => {
  const notes = new WebhookNotes<number>()
  for (let i = 0; i < 3 * mostWebhooks.inAll; i++) {
    notes.set(`w${i}`, i)
    if (notes.size > mostWebhooks.inAll) t.fail(`${notes.size} notes`)
  }
  t.equal(notes.get(`w${3 * mostWebhooks.inAll - 1}`), 3 * mostWebhooks.inAll - 1)
})

t.test('a webhook has one note, and a new one of it forgets no other', async (t) => {
  const notes = new WebhookNotes<number>()
  for (let i = 0; i < mostWebhooks.inAll; i++) notes.set(`w${i}`, i)
  for (let i = 0; i < 10; i++) notes.set('w0', -i)
  t.equal(notes.size, mostWebhooks.inAll)
  t.equal(notes.get('w0'), -9)
  t.equal(notes.get('w1'), 1)
})
