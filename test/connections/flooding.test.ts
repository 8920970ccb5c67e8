import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { build } from '../build.ts'
import { listening, message } from '../http/wire.ts'
import { replace, stopClock } from '../stopped-clock.ts'
import { until } from './served.ts'

t.test('a flood over the limit is refused at a pace, and others are answered meanwhile', async (t) => {
  const { followTimers } = stopClock(t)
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const look = async (remoteAddress: string) => (await app.inject({ url: '/product/ABC-1', remoteAddress })).statusCode
  for (let i = 0; i < 6; i++) await look('192.0.2.1')
  const answers: number[] = []
  await Promise.all([
    look('192.0.2.1').then((status) => answers.push(status)),
    look('192.0.2.2').then((status) => {
      answers.push(status)
      // Until now no pause could end.
      followTimers()
    })
  ])
  t.same(answers, [200, 429])
})

t.test('a caller that floods waits a quarter of a second for a refusal', async (t) => {
  const { pass } = stopClock(t)
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const look = () => app.inject({ url: '/product/ABC-1', remoteAddress: '192.0.2.1' })
  for (let i = 0; i < 6; i++) await look()
  const timers: (() => void)[] = []
  const { setTimeout: start } = globalThis
  const hold = (end: () => void, delay: number) => (delay > 250 ? start(end, delay) : timers.push(end))
  replace(t, globalThis, 'setTimeout', hold as typeof setTimeout)
  let isRefused = false
  const refused = look().then(({ statusCode }) => {
    isRefused = true
    return statusCode
  })
  await until(() => timers.length === 1, 'the refusal waits')
  /** Lets time pass, and the service do all that it does then. */
  async function wait(milliseconds: number): Promise<void> {
    pass(milliseconds)
    for (const end of timers.splice(0)) end()
    for (let turns = 0; turns < 100; turns++) await new Promise(setImmediate)
  }
  await wait(249)
  t.notOk(isRefused)
  await wait(1)
  t.ok(isRefused)
  t.equal(await refused, 429)
})

t.test('refusals whose pauses end together are spread over turns of the event loop', async (t) => {
  const { pass } = stopClock(t)
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const addresses = Array.from({ length: 200 }, (_, i) => `192.0.2.${i}`)
  for (const address of addresses) app.countOutside(address, 7)
  await app.ready()
  const pauses: (() => void)[] = []
  const { setTimeout: start } = globalThis
  // Longer ones are no pauses: on a busy machine the plugin that deletes old events may set its timer meanwhile.
  const hold = (end: () => void, delay: number) => (delay > 250 ? start(end, delay) : pauses.push(end))
  replace(t, globalThis, 'setTimeout', hold as typeof setTimeout)
  const { schedule } = app
  app.schedule = (network, start) =>
    schedule(network, () => {
      // A refusal takes time.
      pass(1)
      start()
    })
  let refusedInTurn = 0
  let most = 0
  const refused = addresses.map(async (remoteAddress) => {
    t.equal((await app.inject({ url: '/product/ABC-1', remoteAddress })).statusCode, 429)
    most = Math.max(most, ++refusedInTurn)
  })
  await until(() => pauses.length === addresses.length, 'all refusals wait')
  pass(1_000)
  for (const end of pauses) end()
  const nextTurn = () => {
    refusedInTurn = 0
    turn = setImmediate(nextTurn)
  }
  let turn = setImmediate(nextTurn)
  await Promise.all(refused)
  clearImmediate(turn)
  t.ok(most < 20, `${most} of ${addresses.length} in one turn`)
})

t.test('the refusals of one flooding address are apart from each other, however many connections it has', async (t) => {
  stopClock(t).followTimers()
  const { app } = await build(t, { settings: { RATE_LIMIT: '3' } })
  const look = () => app.inject({ url: '/product/ABC-1', remoteAddress: '192.0.2.1' })
  for (let i = 0; i < 6; i++) await look()
  const refusals = 200
  const interval = 5
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: refusals }, async () => t.equal((await look()).statusCode, 429)))
  t.ok(performance.now() - startedAt > refusals * interval, 'they take turns')
})

t.test('clients of a flooding address that go away take no time from those that wait for their refusal', async (t) => {
  const { followTimers } = stopClock(t)
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
    const delayed = () => [...app.connections.open].filter(({ isRefusalDelayed }) => isRefusalDelayed)
    // While the clock stands no pause ends.
    await until(() => delayed().length === sockets.length, 'all wait for their refusal')
    const areGone = Promise.all(sockets.map((socket) => once(socket, 'close')))
    for (const socket of sockets) socket.resetAndDestroy()
    await areGone
    while (app.connections.pendingResponses.length > 0) await new Promise(setImmediate)
  }
  // The other address measures the time: four refusals one after the other take a second, and 400 turns two.
  followTimers()
  const order: string[] = []
  const four = async () => {
    for (let i = 0; i < 4; i++) await look(other)
    order.push('other')
  }
  await Promise.all([four(), look(crowd).then(() => order.push('crowd'))])
  t.same(order, ['crowd', 'other'])
})
