import t from 'tap'
import { maxWholeBody, PacedBody } from '../../http/paced-body.ts'
import { build } from '../build.ts'
import { ask, listening, message, Wire } from './wire.ts'

const large = 3 * 1024 * 1024 + 1

t.test('a large body is sent in parts, each in a turn, and what is not sent yet is known', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))
  const turns: (() => void)[] = []
  const body = new PacedBody(bytes, () => new Promise((resolve) => turns.push(resolve)))
  const parts: Buffer[] = []
  body.on('data', (part) => parts.push(part))
  t.equal(body.unsent, bytes.length)
  while (!body.readableEnded) {
    await new Promise(setImmediate)
    turns.shift()?.()
    t.equal(turns.length, 0, 'it waits for one turn at a time')
  }
  t.strictSame(Buffer.concat(parts), bytes)
  t.same([Math.max(...parts.map(({ length }) => length)), parts.length], [64 * 1024, 5])
  t.equal(body.unsent, 0)
})

t.test('a body whose client has gone takes no more turns', async (t) => {
  let turns = 0
  const body = new PacedBody(Buffer.alloc(large), async () => {
    turns++
    await new Promise(setImmediate)
  })
  body.once('data', () => body.destroy())
  await new Promise((resolve) => body.once('close', resolve))
  const before = turns
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  t.equal(turns, before)
  t.equal(body.unsent, 0)
})

t.test('large responses arrive whole, to GET and after a write; HEAD has their length', async (t) => {
  const { app } = await build(t)
  const sizes = [maxWholeBody, maxWholeBody + 1, large]
  for (const size of sizes) {
    app.get(`/${size}`, async (_request, reply) => reply.send(Buffer.alloc(size, 'x')))
    app.post(`/${size}`, async (_request, reply) => reply.code(201).send(Buffer.alloc(size, 'y')))
  }
  await listening(app)
  for (const size of sizes) {
    const length = { 'content-length': String(size) }
    const got = await ask(t, app, message(`GET /${size}`, {}))
    t.match(got, { status: 200, headers: length })
    t.equal(got.body, 'x'.repeat(size))
    t.match(await ask(t, app, message(`HEAD /${size}`, {})), { status: 200, headers: length, body: '' })
    const posted = await ask(t, app, message(`POST /${size}`))
    t.match(posted, { status: 201, headers: length })
    t.equal(posted.body, 'y'.repeat(size))
  }
})

t.test('of all large responses together, one has its turn in a turn of the event loop', async (t) => {
  const { app } = await build(t)
  await listening(app)
  let turn = 0
  let ticker: NodeJS.Immediate | undefined
  const tick = () => {
    turn++
    ticker = setImmediate(tick)
  }
  tick()
  t.teardown(() => clearImmediate(ticker))
  const turns = await Promise.all(Array.from({ length: 20 }, (_, i) => app.turnToSend(`127.0.0.${i}`).then(() => turn)))
  t.equal(new Set(turns).size, turns.length)
})

t.test('while a client reads a large response slowly, others are answered, and it gets the rest', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': {} } })
  app.get('/large', async (_request, reply) => reply.send(Buffer.alloc(24 * 1024 * 1024, 'x')))
  await listening(app)
  const reader = await Wire.open(t, app)
  reader.pause().send(message('GET /large'))
  for (let i = 0; i < 5; i++) t.match(await ask(t, app, message('GET /product/ABC-1')), { status: 200 })
  reader.resume()
  const { body } = await reader.answer()
  t.equal(body.length, 24 * 1024 * 1024)
})
