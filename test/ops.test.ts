import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { buildOps } from '../app.ts'
import { build } from './build.ts'
import { ask, listening, message, Wire } from './http/wire.ts'

/** @param log gets the lines that the service writes, when it is given */
async function serve(t: Test, settings: Readonly<Record<string, string>>, log?: string[]) {
  const logTo = { write: (line: string) => void log?.push(line) }
  const { app, config } = await build(t, { settings: { OPS_PORT: '0', ...settings }, logTo })
  const ops = await buildOps({ config, app, isStopping: () => false })
  t.teardown(() => ops.close())
  return ops
}

t.test("the operator's port takes few connections, closes more at once, and goes on when they have gone", async (t) => {
  const ops = await serve(t, {})
  await listening(ops)
  const wires: Wire[] = []
  const open = () => [...ops.connections.open].length
  for (let i = 0; i < 32; i++) wires.push(await Wire.open(t, ops))
  while (open() < 32) await pause(5)
  const tooMany = await Wire.open(t, ops)
  t.equal(await tooMany.rest(), '')
  for (const wire of wires) wire.abort()
  while (open() > 0) await pause(5)
  t.equal((await ask(t, ops, message('GET /health/live'))).status, 200)
})

t.test("clients that wait for their socket count on the operator's port", async (t) => {
  const ops = await serve(t, {})
  await listening(ops)
  const { turns } = ops.connections
  const { schedule } = turns
  const held: (() => void)[] = []
  turns.schedule = (network, start) => held.push(() => schedule.call(turns, network, start))
  const wires: Wire[] = []
  for (let i = 0; i < 32; i++) wires.push(await Wire.open(t, ops))
  const tooMany = await Wire.open(t, ops)
  t.equal(await tooMany.rest(), '')
  t.equal(ops.connections.open.size, 0)
  turns.schedule = schedule
  for (const start of held) start()
  for (const wire of wires) t.equal((await wire.send(message('GET /health/live')).answer()).status, 200)
})

t.test("a client that reads nothing of a response on the operator's port is cut off after SEND_TIMEOUT", async (t) => {
  const ops = await serve(t, { SEND_TIMEOUT: '1' })
  ops.get('/large', async (_request, reply) => reply.send(Buffer.alloc(24 * 1024 * 1024, 'x')))
  await listening(ops)
  const deaf = await Wire.open(t, ops)
  deaf.pause().send(message('GET /large'))
  while ([...ops.connections.open].length === 0) await pause(5)
  while ([...ops.connections.open].length > 0) await pause(50)
  t.equal((await ask(t, ops, message('GET /health/live'))).status, 200)
})

t.test("a request on the operator's port has the time and the form that the shop's have", async (t) => {
  const log: string[] = []
  const ops = await serve(t, { HEADERS_TIMEOUT: '1', REQUEST_TIMEOUT: '1', MAX_URL_LENGTH: '256', MAX_HEADERS: '10' }, log)
  await listening(ops)
  const slow = await Wire.open(t, ops)
  t.equal((await slow.send('GET /metrics HTTP/1.1\r\nHost: a\r\n').answer()).status, 408)
  // A busy machine may take longer than a second for the others.
  Object.assign(ops.server, { headersTimeout: 0, requestTimeout: 0 })
  t.equal((await ask(t, ops, message('GET /metrics', { host: 'a b' }))).status, 400)
  t.equal((await ask(t, ops, message(`GET /${'x'.repeat(300)}`))).status, 414)
  t.equal((await ask(t, ops, message('GET /metrics', { x: Array(20).fill('y') }))).status, 431)
  t.equal((await ask(t, ops, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')).status, 501)
  t.same(log.join('').match(/"level":[456]0.*/g), null, 'what is refused is nothing that the operator should know')
})

t.test("a problem on the operator's port is also a page", async (t) => {
  const ops = await serve(t, {})
  const { statusCode, headers, body } = await ops.inject({ url: '/nowhere', headers: { accept: 'text/html' } })
  t.equal(statusCode, 404)
  t.match(headers['content-type'], /^text\/html/)
  t.match(body, '<h1')
})
