import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { build, xml } from '../build.ts'
import { documentProcesses, skip } from './processes.ts'

/** Larger than a document for the process for small ones. */
const payload = `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'.repeat(600)}</purchase-order>`

t.test('documents that wait are refused once others of their sender have used up its rate', { skip }, async (t) => {
  const { app, store } = await build(t, { settings: { RATE_LIMIT: '100' }, products: { 'ABC-1': { onHand: '1000000' as never } } })
  const send = (body: string, remoteAddress: string) =>
    app.inject({ method: 'POST', url: '/order', headers: xml, payload: body, remoteAddress })
  const order = (address: string) => send(payload, address)
  t.equal((await send(`${payload}?`, '192.0.2.1')).statusCode, 400, 'the process that reads large documents runs')
  const reading = documentProcesses()

  const { documents } = app
  const { read } = documents
  let waiting = 0
  documents.read = (...given) => {
    waiting++
    return read.apply(documents, given)
  }
  for (const pid of reading) process.kill(pid, 'SIGSTOP')
  const attack = Array.from({ length: 5 }, () => order('192.0.2.2'))
  while (waiting < 5) await sleep(5)
  const customer = order('192.0.2.3')
  while (waiting < 6) await sleep(5)
  // To the service, the document that was being read has taken too long: it costs 100 requests.
  for (const pid of reading) process.kill(pid, 'SIGKILL')
  const answers = await Promise.all(attack)
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [422, 429, 429, 429, 429])
  for (const { headers, body } of answers.filter(({ statusCode }) => statusCode === 429)) {
    t.match(body, 'Your other documents took too long')
    const seconds = Number(headers['retry-after'])
    t.ok(seconds > 0 && seconds <= 60, `Retry-After: ${seconds}`)
  }
  t.equal((await customer).statusCode, 201)
  t.equal((await store.orders({ limit: 10 })).items.length, 1)
})
