import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { EventQuery } from '../../domain/store.ts'
import { mostWaiting } from '../../plugins/event-watch.ts'
import { draft } from '../build.ts'
import { listening } from '../http/wire.ts'
import { emptyPage, place, read, stopWaitingTime } from './feed.ts'

t.test('a thousand requests of one caller can wait; one more is answered at once', async (t) => {
  t.same(mostWaiting, { total: 2_000, perCaller: 1_000 })
  stopWaitingTime(t)
  const { shop, erp, acme, next } = await emptyPage(t)
  // Any of them can be the one too many, because their keys are looked up at the same time.
  const reads = Array.from({ length: 1_001 }, () => read(shop, next, { ...erp, prefer: 'wait=60' }))
  const more = await Promise.race(reads)
  t.same([more.statusCode, more.page.event, more.headers['preference-applied']], [200, [], undefined])
  const other = read(shop, next, { ...acme, prefer: 'wait=60' })
  await shop.store.putProduct('ABC-2', draft(), {})
  t.equal((await other).headers['preference-applied'], 'wait=60', 'another caller can wait')
  const waited = (await Promise.all(reads)).filter((answer) => answer !== more)
  for (const { statusCode, headers, page } of waited)
    t.same([statusCode, headers['preference-applied'], page.event.length], [200, 'wait=60', 1])
})

t.test('two thousand requests of all callers can wait; more are answered at once', async (t) => {
  stopWaitingTime(t)
  const { shop, erp, acme, next } = await emptyPage(t)
  const other = await shop.key('other', 'order')
  let isOver = false
  const reads = [erp, acme, other].flatMap((caller) =>
    Array.from({ length: 700 }, async () => {
      const { statusCode, headers } = await read(shop, next, { ...caller, prefer: 'wait=60' })
      return { statusCode, isEarly: !isOver, hasWaited: headers['preference-applied'] === 'wait=60' }
    })
  )
  let early = 0
  for (const one of reads) void one.then(({ isEarly }) => (early += isEarly ? 1 : 0))
  while (early < 100) await pause(5)
  isOver = true
  await shop.store.putProduct('ABC-2', draft(), {})
  const answers = await Promise.all(reads)
  t.ok(answers.every(({ statusCode }) => statusCode === 200))
  t.same(
    [true, false].map((is) => answers.filter(({ hasWaited }) => hasWaited === is).length),
    [2_000, 100]
  )
})

t.test('a client that goes away leaves no waiting request behind, so a thousand can come after it', async (t) => {
  stopWaitingTime(t)
  const { shop, erp, next } = await emptyPage(t)
  const { eventHeads } = shop.store
  let looks = 0
  Object.assign(shop.store, {
    eventHeads: (query: EventQuery) => {
      looks++
      return eventHeads(query)
    }
  })
  const { port } = new URL(await listening(shop.app))
  for (const round of [1, 2]) {
    const sockets = Array.from({ length: 600 }, () => connect(Number(port), '127.0.0.1'))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const socket of sockets)
      socket.write(`GET ${next} HTTP/1.1\r\nHost: shop\r\nAuthorization: ${erp.authorization}\r\nPrefer: wait=60\r\n\r\n`)
    // Each looks at its page when it has begun to wait, and not again when its client has gone.
    while (looks < sockets.length * round) await pause(5)
    if (round === 1) {
      for (const socket of sockets) socket.destroy()
      while (shop.app.connections.open.size > 0) await pause(5)
      continue
    }
    const answers = sockets.map((socket) => once(socket, 'data'))
    await place(shop)
    for (const [data] of await Promise.all(answers)) t.match(String(data), /^HTTP\/1.1 200.*preference-applied: wait=60/s)
    for (const socket of sockets) socket.destroy()
  }
})
