import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build, draft, type Shop } from '../build.ts'
import { listening } from '../http/wire.ts'
import { json, place, read } from '../routes/feed.ts'

/** A shop whose waiting requests get no turn until the test starts one that was asked for. */
async function shopWithTurns(t: Test) {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const { next } = await read(shop, '/events', erp)
  const held: { readonly network: string; readonly start: () => void }[] = []
  let report = () => {}
  Object.assign(shop.app, {
    schedule: (network: string, start: () => void) => {
      held.push({ network, start })
      report()
    }
  })
  const asked = async () => {
    for (;;) {
      const turn = held.shift()
      if (turn) return turn
      await new Promise<void>((resolve) => (report = resolve))
    }
  }
  return { shop, erp, next, asked }
}

/** Counts the reads of the requests, apart from the looks for all of them. */
function countReads({ store }: Shop): { count: number } {
  const reads = { count: 0 }
  const { eventHeads } = store
  Object.assign(store, {
    eventHeads: (query: Parameters<typeof eventHeads>[0]) => {
      if (query.audience.types.length < 9) reads.count++
      return eventHeads(query)
    }
  })
  return reads
}

t.test('a request that an event wakes reads it when it is the turn of its address', async (t) => {
  const { shop, erp, next, asked } = await shopWithTurns(t)
  const reads = countReads(shop)
  const waiting = Array.from({ length: 3 }, () => shop.app.inject({ url: next, headers: { ...erp, prefer: 'wait=50' } }))
  while (reads.count < 3) await turnOfTheLoop()
  await place(shop)
  for (const expected of [4, 5, 6]) {
    const turn = await asked()
    t.equal(turn.network, '127.0.0.1')
    t.equal(reads.count, expected - 1)
    turn.start()
    while (reads.count < expected) await turnOfTheLoop()
  }
  for (const { statusCode } of await Promise.all(waiting)) t.equal(statusCode, 200)
})

t.test('a wait whose time is over waits for its turn', async (t) => {
  const { shop, erp, next, asked } = await shopWithTurns(t)
  const reads = countReads(shop)
  const waiting = shop.app.inject({ url: next, headers: { ...erp, prefer: 'wait=1' } })
  const turn = await asked()
  t.equal(reads.count, 1)
  turn.start()
  t.equal((await waiting).statusCode, 200)
  t.equal(reads.count, 2)
})

t.test('a wait whose client went away waits for its turn', async (t) => {
  const { shop, erp, next, asked } = await shopWithTurns(t)
  const reads = countReads(shop)
  const { port } = new URL(await listening(shop.app))
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${next} HTTP/1.1\r\nHost: shop\r\nAuthorization: ${erp.authorization}\r\nPrefer: wait=60\r\n\r\n`)
  while (reads.count < 1) await turnOfTheLoop()
  socket.destroy()
  const turn = await asked()
  t.equal(reads.count, 1)
  turn.start()
})

const waits = 100

/** Two customers wait, one of them with a hundred requests. From now on the reads of those are held once they are woken. */
async function crowd(t: Test) {
  const shop = await build(t)
  const [many, one] = [await shop.key('many', 'order'), await shop.key('one', 'order')]
  const { next } = await read(shop, '/events', many)
  const { eventHeads } = shop.store
  const reads = { count: 0, held: 0 }
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  Object.assign(shop.store, {
    eventHeads: async (query: Parameters<typeof eventHeads>[0]) => {
      if (reads.count > waits && query.audience.own?.customer === 'many') {
        reads.held++
        await held
      }
      const found = await eventHeads(query)
      if (query.audience.own) reads.count++
      return found
    }
  })
  const wait = (headers: typeof many) => shop.app.inject({ url: next, headers: { ...headers, ...json, prefer: 'wait=60' } })
  const waiting = Array.from({ length: waits }, () => wait(many))
  while (reads.count < waits) await turnOfTheLoop()
  t.teardown(() => {
    release()
    return Promise.all(waiting)
  })
  const answer = wait(one)
  while (reads.count < waits + 1) await turnOfTheLoop()
  return { shop, many, one, answer, reads }
}

t.test('a customer with many waiting requests is not answered before one with a single request', async (t) => {
  const { shop, answer, reads } = await crowd(t)
  await shop.store.putProduct('ABC-2', draft(), {})
  t.match((await answer).json(), { event: [{ type: 'product-created', resource: '/product/ABC-2' }] })
  t.ok(reads.held < waits, 'the others are woken in turn')
})

t.test('an event is found while requests that heard an earlier one are still answered', async (t) => {
  const { shop, many, one, answer, reads } = await crowd(t)
  await place(shop, many)
  while (reads.held === 0) await turnOfTheLoop()
  const resource = await place(shop, one)
  t.match((await answer).json(), { event: [{ type: 'order-placed', resource }] })
  t.ok(reads.held < waits, 'the others are woken in turn')
})
