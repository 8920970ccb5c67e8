import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build, type Shop } from '../build.ts'
import { listening } from '../http/wire.ts'
import { place, read } from '../routes/feed.ts'

/** A shop whose waiting requests get no turn until `give` is called; then each gets one when `give` is called again. */
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
    while (held.length === 0) await new Promise<void>((resolve) => (report = resolve))
    return held.splice(0)
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
  while (reads.count < 3) await nextTurn()
  await place(shop)
  for (const expected of [4, 5, 6]) {
    const turns = await asked()
    t.same(
      turns.map(({ network }) => network),
      ['127.0.0.1'],
      'one turn at a time'
    )
    t.equal(reads.count, expected - 1)
    for (const { start } of turns) start()
    while (reads.count < expected) await nextTurn()
  }
  for (const { statusCode } of await Promise.all(waiting)) t.equal(statusCode, 200)
})

t.test('a wait whose time is over waits for its turn', async (t) => {
  const { shop, erp, next, asked } = await shopWithTurns(t)
  const reads = countReads(shop)
  const waiting = shop.app.inject({ url: next, headers: { ...erp, prefer: 'wait=1' } })
  const [turn] = await asked()
  t.equal(reads.count, 1)
  turn?.start()
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
  while (reads.count < 1) await nextTurn()
  socket.destroy()
  const [turn] = await asked()
  t.equal(reads.count, 1)
  turn?.start()
})
