import { getEventListeners } from 'node:events'
import t from 'tap'
import { Sender } from '../../webhooks/sender.ts'
import { Targets } from '../../webhooks/targets.ts'
import { withSignal } from '../../webhooks/with-signal.ts'
import { dispatching } from './delivering.ts'
import { startReceiver } from './receiver.ts'

/** What a signal holds of others: its listeners, and the signals that `AbortSignal.any` made of it. */
function held(signal: AbortSignal): number {
  const made = Object.getOwnPropertySymbols(signal)
    .filter(({ description }) => /dependant/i.test(description ?? ''))
    .map((symbol) => (signal as unknown as Record<symbol, Set<unknown> | undefined>)[symbol]?.size ?? 0)
  return made.reduce((sum, size) => sum + size, getEventListeners(signal, 'abort').length)
}

t.test('the signal aborts when any of the given ones does, with its reason, also if that was before', async (t) => {
  const reason = new Error('the reason')
  for (const [first, second] of [
    [AbortSignal.abort(reason), new AbortController().signal],
    [new AbortController().signal, AbortSignal.abort(reason)]
  ] as const) {
    t.equal(await withSignal([first, second], async ({ reason }) => reason), reason)
  }
  const later = new AbortController()
  const seen = withSignal(
    [new AbortController().signal, later.signal],
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)))
  )
  later.abort(reason)
  t.equal(await seen, reason)
  t.equal(await withSignal([new AbortController().signal], async ({ aborted }) => aborted), false)
})

t.test('nothing is left in the given signals, however the work ends', async (t) => {
  const { signal } = new AbortController()
  await withSignal([signal], async () => undefined)
  await t.rejects(
    withSignal([signal], async () => {
      throw new Error('failed')
    })
  )
  t.equal(held(signal), 0)
})

t.test('deliveries leave nothing in a signal that lives as long as the service', async (t) => {
  const { url } = await startReceiver(t)
  const { dispatcher, store, id } = await dispatching(t, url)
  const [webhook, head] = [await store.webhook(id, 'ERP'), await store.lastEvent()]
  if (!head) return t.fail('there is no event')
  const { signal } = new AbortController()
  const sender = new Sender(new Targets(['127.0.0.1']), 8)
  t.teardown(() => sender.close())
  for (let i = 0; i < 3; i++) {
    t.match(await dispatcher.attempt({ ...webhook, customer: 'ERP', scopes: ['fulfilment'], keyId: '', secrets: [] }, head, signal), {
      status: 204
    })
    const post = { url, customer: 'ERP', headers: {}, body: Buffer.from('x'), signing: { id: '', timestamp: 0, secrets: [] } }
    t.match(await sender.post(post, signal), { status: 204 })
  }
  t.equal(held(signal), 0)
})
