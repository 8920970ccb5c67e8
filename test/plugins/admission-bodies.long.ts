import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { build, type Shop } from '../build.ts'
import { checksByHand } from '../connections/serve-large.ts'
import { listening, message, Wire } from '../http/wire.ts'

const largest = 2 * 1024 * 1024
const json = { 'content-type': 'application/json' } as const
const jsonOrder = '{"item":[{"productId":"ABC-1","quantity":"1"}]}'

t.test('the bodies of one caller take 12 MiB at most while they arrive: one more is 503, unread, and others are answered', async (t) => {
  const { app } = await build(t)
  await listening(app)
  const head = message('POST /order', { ...json, 'content-length': String(largest) })
  const wires = await Promise.all(Array.from({ length: 7 }, () => Wire.open(t, app)))
  const sent = wires.map((wire) => ({ wire, answer: wire.send(head).answer() }))
  const refused = await Promise.race(sent.map(async ({ wire, answer }) => ({ wire, ...(await answer) })))
  t.match(refused, { status: 503, body: /Too many large documents are being processed right now. Nothing was stored/ })
  const send = (remoteAddress: string) => app.inject({ method: 'POST', url: '/order', remoteAddress, headers: json, payload: jsonOrder })
  t.equal((await send('127.0.0.1')).statusCode, 503)
  t.equal((await send('192.0.2.1')).statusCode, 201)
  const waiting = sent.filter(({ wire }) => wire !== refused.wire)
  for (const { wire } of waiting) wire.send(jsonOrder.padEnd(largest))
  const statuses = (await Promise.all(waiting.map(({ answer }) => answer))).map(({ status }) => status)
  t.same(statuses, new Array(6).fill(201))
  t.equal((await send('127.0.0.1')).statusCode, 201, 'each answer gives its room back')
})

/** Sends the heads of orders of 2 MiB at once, which wait to be told to go on. @returns how many are, and how many are refused */
async function announceOrders(t: Test, app: FastifyInstance, senders: readonly Readonly<Record<string, string>>[]) {
  const answers = await Promise.all(
    senders.map(async (sender) => {
      const wire = await Wire.open(t, app)
      const head = { ...json, ...sender, expect: '100-continue', 'content-length': String(largest) }
      return wire.send(message('POST /order', head)).answer()
    })
  )
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
  return { accepted: count(100), refused: count(503) }
}

/** Places an order of so many bytes. @returns the status */
async function place({ app }: Shop, length: number, remoteAddress: string, more: Readonly<Record<string, string>> = {}): Promise<number> {
  const payload = jsonOrder.padEnd(length)
  return (await app.inject({ method: 'POST', url: '/order', remoteAddress, headers: { ...json, ...more }, payload })).statusCode
}

t.test('the bodies of all customers of one address take 16 MiB at most, and leave room for small ones of others', async (t) => {
  // Otherwise those who send nothing become slow, and lose their room.
  checksByHand(t)
  const shop = await build(t)
  await listening(shop.app)
  const [a, b, c, d] = [
    await shop.key('A', 'order'),
    await shop.key('B', 'order'),
    await shop.key('C', 'order'),
    await shop.key('D', 'order')
  ]
  const senders = Array.from({ length: 5 }, () => [a, b, c]).flat()
  t.same(await announceOrders(t, shop.app, senders), { accepted: 8, refused: 7 })
  t.equal(await place(shop, largest, '127.0.0.1', d), 503)
  t.equal(await place(shop, largest, '192.0.2.1', d), 201, 'from another address it has room')
  t.equal(await place(shop, 200_000, '127.0.0.1', d), 201)
})

t.test('large bodies that never come, of several addresses, leave room for small ones of others', async (t) => {
  checksByHand(t)
  const shop = await build(t, { settings: { TRUST_PROXY: '127.0.0.1' } })
  await listening(shop.app)
  const senders = Array.from({ length: 35 }, (_, index) => ({ 'x-forwarded-for': `192.0.2.${index % 7}` }))
  t.same(await announceOrders(t, shop.app, senders), { accepted: 32, refused: 3 })
  t.equal(await place(shop, largest, '192.0.2.9'), 503)
  t.equal(await place(shop, 200_000, '192.0.2.9'), 201)
})
