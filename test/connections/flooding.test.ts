import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'

t.test('a flood over the limit is refused at a pace, and others are answered meanwhile', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const look = (remoteAddress: string) => app.inject({ url: '/product/ABC-1', remoteAddress })
  for (let i = 0; i < 6; i++) await look('192.0.2.1')
  const overtakes = async (address: string) => {
    const answers: number[] = []
    await Promise.all(['192.0.2.1', address].map(async (from) => answers.push((await look(from)).statusCode)))
    return answers.join() === '200,429'
  }
  // A machine that stands still for longer than the pause may answer both at once.
  let customer = 2
  while (!(await overtakes(`192.0.2.${customer}`))) customer++
  t.ok(customer < 255)
})

t.test('refusals whose pauses end together are spread over turns of the event loop', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const look = () => app.inject({ url: '/product/ABC-1', remoteAddress: '192.0.2.1' })
  for (let i = 0; i < 6; i++) await look()
  let refusedInTurn = 0
  let most = 0
  const refused = Promise.all(
    Array.from({ length: 500 }, async () => {
      t.equal((await look()).statusCode, 429)
      most = Math.max(most, ++refusedInTurn)
    })
  )
  const startedAt = performance.now()
  while (performance.now() - startedAt < 100) await new Promise(setImmediate)
  // The thread is busy until every pause is over.
  while (performance.now() - startedAt < 400);
  const nextTurn = () => {
    refusedInTurn = 0
    turn = setImmediate(nextTurn)
  }
  let turn = setImmediate(nextTurn)
  await refused
  clearImmediate(turn)
  t.ok(most < 250, `${most} of 500 in one turn`)
})

t.test('the refusals of one flooding address are apart from each other, however many connections it has', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const look = (remoteAddress = '192.0.2.1') => app.inject({ url: '/product/ABC-1', remoteAddress })
  for (let i = 0; i < 6; i++) await look()
  const refusals = 200
  const interval = 5
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: refusals }, async () => t.equal((await look()).statusCode, 429)))
  t.ok(performance.now() - startedAt > refusals * interval, 'they take turns')
})

t.test('clients of a flooding address that go away take no time from those that wait for their refusal', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const port = Number(new URL(await listening(app)).port)
  const open = (localAddress: string) => connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
  const look = (socket: Socket) =>
    new Promise<void>((resolve) => {
      socket.once('data', () => resolve())
      socket.write(message('GET /product/ABC-1'))
    })
  const [crowd, other] = [open('127.0.0.2'), open('127.0.0.3')]
  t.teardown(() => [crowd, other].map((socket) => socket.destroy()))
  for (let i = 0; i < 6; i++) await Promise.all([look(crowd), look(other)])
  for (let batch = 0; batch < 10; batch++) {
    const sockets = Array.from({ length: 40 }, () => open('127.0.0.2'))
    for (const socket of sockets) void look(socket)
    const isEach = () => app.connections.pendingResponses.length === sockets.length
    for (let turns = 0; turns < 2_000 && !isEach(); turns++) await new Promise(setImmediate)
    // All requests have arrived. In the next turns the pauses of their refusals begin.
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    const areGone = Promise.all(sockets.map((socket) => once(socket, 'close')))
    for (const socket of sockets) socket.resetAndDestroy()
    await areGone
    while (app.connections.pendingResponses.length > 0) await new Promise(setImmediate)
  }
  // The other address measures the time: four refusals one after the other take a second, and 400 turns two.
  const order: string[] = []
  const four = async () => {
    for (let i = 0; i < 4; i++) await look(other)
    order.push('other')
  }
  await Promise.all([four(), look(crowd).then(() => order.push('crowd'))])
  t.same(order, ['crowd', 'other'])
})
