import t, { type Test } from 'tap'
import type { EventHead } from '../../domain/event.ts'
import type { Store } from '../../domain/store.ts'
import { claimLasts, mostWebhooks, type WebhookTarget } from '../../domain/webhook.ts'
import { outgoingShares } from '../../http/descriptors.ts'
import { times, turn } from '../../webhooks/dispatcher-options.ts'
import { Redelivery } from '../../webhooks/redelivery.ts'
import { NotSentError, timeouts } from '../../webhooks/sender.ts'
import { createProducts, dispatching, ownedWebhook } from './delivering.ts'
import { startReceiver } from './receiver.ts'

const never = new AbortController().signal
const names = (count: number, prefix = 'P') => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

const { again: mostSentAgain } = outgoingShares(undefined)

t.test('a claim that is about to be renewed outlasts the longest POST', async (t) => {
  const lookUps = 5_000
  t.ok(times.renewal + timeouts.attempt + lookUps <= claimLasts)
})

t.test('customers with slow receivers never take all turns, so that others are served at once', async (t) => {
  const hanging = await startReceiver(t, () => {})
  const well = await startReceiver(t)
  let most = 0
  const { store, dispatcher } = await dispatching(t, hanging.url, {
    verbs: {
      async claimWebhooks(...args) {
        const claimed = await store.claimWebhooks(...args)
        most = Math.max(most, dispatcher.serving + claimed.length)
        return claimed
      }
    }
  })
  for (const customer of names(13, 'slow'))
    await Promise.all(Array.from({ length: mostWebhooks.ofCustomer }, () => ownedWebhook(store, customer, hanging.url)))
  await createProducts({ store }, 'first')
  dispatcher.start()
  await hanging.count(100)
  for (const customer of names(5, 'well')) await ownedWebhook(store, customer, well.url)
  await createProducts({ store }, 'second', 'third')
  await well.count(10)
  t.ok(most < 192, `of 256 turns ${most} were taken at most`)
})

/** A receiver that notes its name for each delivery. */
const noting = (t: Test, order: string[], name: string) =>
  startReceiver(t, (response) => {
    order.push(name)
    response.writeHead(204).end()
  })

t.test('a turn ends after eight deliveries or one second', async (t) => {
  t.same(turn, { deliveries: 8, milliseconds: 1_000 })
})

t.test('when every turn is taken, a slow receiver gives its turn to the others after one delivery', async (t) => {
  const order: string[] = []
  const [slow, other] = [await noting(t, order, 'slow'), await noting(t, order, 'other')]
  const { store, dispatcher } = await dispatching(t, slow.url, { parallel: 1, turn: { ...turn, milliseconds: 0 } })
  await ownedWebhook(store, 'other', other.url)
  await createProducts({ store }, ...names(3))
  dispatcher.start()
  await Promise.all([slow.count(3), other.count(3)])
  t.same(order, ['slow', 'other', 'slow', 'other', 'slow', 'other'])
})

t.test('when every turn is taken, a fast receiver gives its turn to the others after eight deliveries', async (t) => {
  const order: string[] = []
  const [fast, other] = [await noting(t, order, 'fast'), await noting(t, order, 'other')]
  const { store, dispatcher } = await dispatching(t, fast.url, { parallel: 1, turn: { ...turn, milliseconds: Number.MAX_VALUE } })
  await ownedWebhook(store, 'other', other.url)
  await createProducts({ store }, ...names(10))
  dispatcher.start()
  await Promise.all([fast.count(10), other.count(10)])
  t.same(
    order,
    ['fast', 'other', 'fast', 'other'].flatMap((name, i) => Array(i < 2 ? 8 : 2).fill(name))
  )
})

t.test('a webhook that waits for no other is served to its end', async (t) => {
  const receiver = await startReceiver(t)
  let claims = 0
  const { store, dispatcher } = await dispatching(t, receiver.url, {
    turn: { deliveries: 1, milliseconds: 0 },
    verbs: {
      async claimWebhooks(...args) {
        const claimed = await store.claimWebhooks(...args)
        claims += claimed.length
        return claimed
      }
    }
  })
  await createProducts({ store }, ...names(5))
  dispatcher.start()
  await receiver.count(5)
  t.equal(claims, 1)
})

/** Claims the webhook, so that there is a target and an event. */
async function claimed(store: Store): Promise<{ readonly target: WebhookTarget; readonly next: EventHead }> {
  const [one] = await store.claimWebhooks('test', 1)
  if (!one) throw new Error('no webhook is due')
  return { target: one, next: one.next }
}

t.test('an event that is sent again gives up when it has no turn in time, and when its client has gone', async (t) => {
  const receiver = await startReceiver(t)
  const { store, dispatcher } = await dispatching(t, receiver.url, {
    write: (_event, _webhook, signal) =>
      new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
  })
  await createProducts({ store }, 'A')
  const { target, next } = await claimed(store)
  await t.rejects(new Redelivery(dispatcher, mostSentAgain).send(target, next, never, 1), NotSentError)
  const client = new AbortController()
  const sent = new Redelivery(dispatcher, mostSentAgain).send(target, next, client.signal)
  client.abort()
  await t.rejects(sent, NotSentError)
  t.equal(receiver.received.length, 0)
})

t.test('the limit of an event that is sent again is for the wait, not for the receiver', async (t) => {
  let passed: () => void = () => {}
  const over = new Promise<void>((resolve) => (passed = resolve))
  const receiver = await startReceiver(t, async (response) => {
    await over
    response.writeHead(204).end()
  })
  const { store, dispatcher } = await dispatching(t, receiver.url)
  await createProducts({ store }, 'A')
  const { target, next } = await claimed(store)
  const client = new AbortController()
  const sent = new Redelivery(dispatcher, mostSentAgain).send(target, next, client.signal)
  await receiver.count(1)
  client.abort()
  passed()
  t.match(await sent, { status: 204 })
})

t.test('a customer that has many events sent again leaves room for others, however many keys it has', async (t) => {
  const receiver = await startReceiver(t, () => {})
  const { store, dispatcher } = await dispatching(t, receiver.url)
  await createProducts({ store }, 'A')
  const { target, next } = await claimed(store)
  const redelivery = new Redelivery(dispatcher, mostSentAgain)
  const refused = { hostile: 0, honest: 0 }
  const sent = (['hostile', 'honest'] as const).flatMap((customer) =>
    Array.from({ length: mostSentAgain }, () =>
      redelivery.send({ ...target, customer }, next, new AbortController().signal).catch((error) => {
        if (!(error instanceof NotSentError)) throw error
        refused[customer]++
      })
    )
  )
  await receiver.count(13)
  t.same(refused, { hostile: mostSentAgain - 7, honest: mostSentAgain - 6 })
  await dispatcher.stop()
  await Promise.all(sent)
  t.equal(receiver.received.length, 13)
  await t.rejects(redelivery.send(target, next, new AbortController().signal), NotSentError, 'nor anything when the shop stops')
})
