import t, { type Test } from 'tap'
import { SendingThread } from '../../webhooks/sending.ts'
import { until } from '../until.ts'
import { startReceiver } from './receiver.ts'

const never = new AbortController().signal
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

function makeThread(t: Test): SendingThread {
  const thread = new SendingThread({ allow: ['127.0.0.1'], mostIdle: 8 })
  t.teardown(() => thread.close())
  return thread
}

const post = (thread: SendingThread, url: string, stop = never) => {
  const signing = { id: 'event-1', timestamp: 1, secrets: [secret] }
  return thread.post({ url, customer: 'ERP', headers: { 'content-type': 'text/plain' }, body: Buffer.from('hello'), signing }, stop)
}

t.test('a delivery is signed and sent by the thread, and its outcome comes back', async (t) => {
  const thread = makeThread(t)
  const receiver = await startReceiver(t, (response, _, count) => response.writeHead(count === 1 ? 204 : 500).end())
  t.match(await post(thread, receiver.url), { status: 204, at: Number, durationMs: Number })
  t.match(receiver.received[0], { body: 'hello', headers: { 'webhook-id': 'event-1', 'webhook-signature': /^v1,\S+$/ } })
  t.match(await post(thread, receiver.url), { status: 500 })
  t.match(await post(thread, 'http://192.0.2.1'), { failure: /^The URL must begin with https/ }, 'only hosts that are allowed')
})

t.test('a delivery that is stopped ends at once, and its connection is closed', async (t) => {
  const thread = makeThread(t)
  let closed = 0
  const receiver = await startReceiver(t, (response) => response.on('close', () => closed++))
  const stop = new AbortController()
  const outcome = post(thread, receiver.url, stop.signal)
  await receiver.count(1)
  stop.abort()
  t.match(await outcome, { failure: 'The shop stopped before there was an answer.' })
  await until(() => closed === 1, 'the connection is closed')
  t.match(await post(thread, receiver.url, stop.signal), { failure: 'The shop stopped before there was an answer.' })
  t.equal(receiver.received.length, 1, 'nothing is sent after that')
})

t.test('the thread checks a URL and says why it must not be called', async (t) => {
  const thread = makeThread(t)
  t.equal(await thread.check('http://127.0.0.1/'), undefined)
  t.equal(await thread.check('https://10.0.0.1/'), 'The address 10.0.0.1 is not public.')
  const withoutAllowed = new SendingThread({ allow: [], mostIdle: 8 })
  t.teardown(() => withoutAllowed.close())
  t.match(await withoutAllowed.check('https://localhost/'), /^The host localhost has an address that is not public/)
})
