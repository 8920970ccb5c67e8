import t, { type Test } from 'tap'
import type { WebhookProgress } from '../../domain/webhook.ts'
import { outgoingShares } from '../../http/descriptors.ts'
import { Problem } from '../../http/problem.ts'
import { Dispatcher } from '../../webhooks/dispatcher.ts'
import type { DeliveryOutcome, DispatcherOptions } from '../../webhooks/dispatcher-options.ts'
import { Sender } from '../../webhooks/sender.ts'
import { Targets } from '../../webhooks/targets.ts'
import { build, draft, type Shop, xml } from '../build.ts'
import { deferred } from './deferred.ts'
import { addWebhook, createProducts, dispatching, eventIds, logged, open, ownedWebhook } from './delivering.ts'
import { startReceiver } from './receiver.ts'

t.test('an event that the shop cannot write or read now does not count as an attempt', async (t) => {
  const receiver = await startReceiver(t)
  const steps: WebhookProgress[] = []
  const settled = deferred()
  const shop = await dispatching(t, receiver.url, {
    write: () => Promise.reject(new Error('busy')),
    verbs: {
      async settleWebhook(...args) {
        steps.push(args[2])
        const next = await shop.store.settleWebhook(...args)
        settled.resolve()
        return next
      }
    }
  })
  await shop.store.createProduct('A', draft({}))
  shop.dispatcher.start()
  await settled.promise
  t.match(steps, [{ step: { kind: 'postpone', in: Number }, delivery: undefined }])
  t.same((await shop.store.deliveries(shop.id, 'ERP', { limit: 5 })).items, [])
  t.match(shop.warnings, [/could not be sent to a webhook/])
})

t.test('a write that ends because the service stops counts for nothing', async (t) => {
  const receiver = await startReceiver(t)
  const steps: WebhookProgress[] = []
  const writing = deferred()
  const shop = await dispatching(t, receiver.url, {
    write: (_event, _webhook, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        writing.resolve()
      }),
    verbs: {
      async settleWebhook(...args) {
        steps.push(args[2])
        return undefined
      }
    }
  })
  await shop.store.createProduct('A', draft({}))
  shop.dispatcher.start()
  await writing.promise
  await shop.dispatcher.stop()
  t.same(steps, [])
  t.match(await shop.store.claimWebhooks('next', 5), [{ id: shop.id, failures: 0 }])
})

t.test('a claim that has ended is noticed before the POST', async (t) => {
  const receiver = await startReceiver(t)
  const asked = deferred()
  const shop = await dispatching(t, receiver.url, {
    renewAfter: 0,
    verbs: {
      async renewClaim() {
        asked.resolve()
        return false
      }
    }
  })
  await shop.store.createProduct('A', draft({}))
  shop.dispatcher.start()
  await asked.promise
  await shop.dispatcher.stop()
  t.equal(receiver.received.length, 0)
})

t.test('a warning says once that a webhook misses events', async (t) => {
  const receiver = await startReceiver(t)
  const { store, dispatcher, warnings, id } = await dispatching(t, receiver.url)
  await store.createProduct('A', draft({}))
  const [claimed] = await store.claimWebhooks('before', 1)
  const delivery = { eventId: claimed?.next.id ?? '', attempt: 1, at: 1, durationMs: 1, failure: 'It hangs.' }
  await store.settleWebhook('before', { id, version: 1 }, { delivery, step: { kind: 'retry', in: 0, failures: 1 } })
  await createProducts({ store } as Shop, 'B', 'C')
  t.equal(await store.pruneEvents(Number.MAX_SAFE_INTEGER, claimed?.next.position ?? 0), claimed?.next.position)
  dispatcher.start()
  await receiver.count(1)
  await dispatcher.stop()
  t.same(
    warnings.map((message) => /before they could be delivered.*EVENTS_KEEP/.test(message)),
    [true]
  )
})

/**
 * Delivers the last of several events, after the others were deleted while they waited to be sent.
 * @param first what happened to the first event before: nothing, its attempt failed, or it was also deleted
 */
async function deliverLast(t: Test, deleted: number, first?: 'failed' | 'deleted') {
  const receiver = await startReceiver(t)
  const counted: DeliveryOutcome[] = []
  let waiting = deleted
  let last = 0
  /** Deletes the event at a position, and those before it. */
  const deleteTo = async (position = 0) => {
    await shop.store.pruneEvents(Number.MAX_SAFE_INTEGER, position - last)
    last = position
  }
  const shop = await dispatching(t, receiver.url, {
    count: (outcome) => counted.push(outcome),
    verbs: {
      async events(heads) {
        if (waiting-- > 0) await deleteTo(heads[0]?.position)
        return shop.store.events(heads)
      }
    }
  })
  const { store, dispatcher, id } = shop
  await createProducts(shop, ...['A', 'B', 'C', 'D'].slice(0, deleted + (first === 'deleted' ? 2 : 1)))
  const [claimed] = await store.claimWebhooks('before', 1)
  const delivery = { eventId: claimed?.next.id ?? '', attempt: 1, at: 1, durationMs: 1, failure: 'It hangs.' }
  if (first) await store.settleWebhook('before', { id, version: 1 }, { delivery, step: { kind: 'retry', in: 0, failures: 1 } })
  if (first === 'deleted') await deleteTo(claimed?.next.position)
  dispatcher.start()
  await receiver.count(1)
  await dispatcher.stop()
  return { counted, warnings: shop.warnings }
}

t.test('each event that is deleted before it could be sent counts as lost once', async (t) => {
  const cases = [
    [await deliverLast(t, 1), 1],
    [await deliverLast(t, 2), 2],
    [await deliverLast(t, 1, 'failed'), 1],
    [await deliverLast(t, 2, 'failed'), 2],
    [await deliverLast(t, 2, 'deleted'), 3]
  ] as const
  for (const [{ counted, warnings }, lost] of cases) {
    t.strictSame(counted, [...Array(lost).fill('lost'), 'delivered'])
    t.equal(warnings.length, lost)
    for (const message of warnings) t.match(message, /before they could be delivered.*EVENTS_KEEP/)
  }
})

t.test('while the database cannot be written, a webhook waits, and then it goes on', async (t) => {
  const shop = await build(t)
  const receiver = await startReceiver(t)
  const { store } = shop
  const sender = new Sender(new Targets(['127.0.0.1']), 8)
  const warnings: string[] = []
  const lost = { reads: 0, claim: false, settle: false }
  const flaky: DispatcherOptions['store'] = {
    async lastEvent() {
      if (++lost.reads <= 3) throw new Error('lost')
      return store.lastEvent()
    },
    events: (heads) => store.events(heads),
    renewClaim: (...args) => store.renewClaim(...args),
    releaseWebhooks: (worker) => store.releaseWebhooks(worker),
    // The claim and the first delivery are stored, but the shop is not told so.
    async claimWebhooks(...args) {
      const claimed = await store.claimWebhooks(...args)
      if (claimed.length === 0 || lost.claim) return claimed
      lost.claim = true
      throw new Error('lost')
    },
    async settleWebhook(...args) {
      const settled = await store.settleWebhook(...args)
      if (lost.settle) return settled
      lost.settle = true
      throw new Error('lost')
    }
  }
  const dispatcher = new Dispatcher({
    store: flaky,
    sender,
    parallel: outgoingShares(undefined).deliveries,
    write: async ({ id }) => Buffer.from(id),
    warn: (_, message) => warnings.push(message)
  })
  t.teardown(async () => {
    await dispatcher.stop()
    sender.close()
  })
  await ownedWebhook(store, 'ERP', receiver.url)
  await createProducts(shop, 'A', 'B', 'C')
  dispatcher.start()
  const received = await receiver.count(3)
  t.same([...new Set(eventIds(received))], eventIds(received.slice(0, 3)), 'in order, each once')
  t.match(warnings, [/could not be read/, /could not be stored/])
  t.equal(warnings.length, 2, 'that it cannot read is told once')
})

t.test('the shop waits longer each time that it cannot write an event, until it can', async (t) => {
  const receiver = await startReceiver(t)
  const waits: number[] = []
  const steps: string[] = []
  const done = deferred()
  const shop = await dispatching(t, receiver.url, {
    write: async ({ id }) => {
      if (waits.length < 9) throw new Error('busy')
      return Buffer.from(id)
    },
    verbs: {
      async settleWebhook(worker, claim, progress) {
        const { step } = progress
        steps.push(step.kind)
        if (step.kind === 'postpone') waits.push(step.in)
        // A retry is due at once, so that the test need not wait.
        const now = step.kind === 'postpone' ? ({ ...progress, step: { kind: 'postpone', in: 0 } } as const) : progress
        const next = await shop.store.settleWebhook(worker, claim, now)
        if (step.kind === 'delivered') done.resolve()
        return next
      }
    }
  })
  await shop.store.createProduct('A', draft({}))
  shop.dispatcher.start()
  await done.promise
  t.same(
    waits,
    [5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000)
  )
  t.same([receiver.received.length, steps.at(-1)], [1, 'delivered'])
})

t.test('an event that takes too long to write is an attempt that failed, so that it is not written again and again', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  const webhook = await addWebhook(shop, receiver.url, { more: { type: ['order-placed'] } })
  // The error when the document process was ended because it took too long.
  const { documents } = shop.app
  // The services of one process share their documents.
  t.teardown(() => Reflect.deleteProperty(documents, 'write'))
  documents.write = () => Promise.reject(new Problem('overloaded', 'It cannot be written now.', { cause: 'too-costly' }))
  await shop.store.putProduct('ABC-1', draft({ unit: 'KGM' }), {})
  const payload = `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>0.001</quantity></item>'.repeat(1_000)}</purchase-order>`
  await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, prefer: 'return=minimal' }, payload })
  t.match(await logged(shop, webhook, 1), [{ attempt: '1', failure: 'The shop could not write the event.' }])
  t.equal(receiver.received.length, 0)
})
