import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { type Audience, eventTypes } from '../../domain/event.ts'
import type { EventQuery } from '../../domain/store.ts'
import { mostWaiting } from '../../plugins/event-watch.ts'
import { build, draft } from '../build.ts'
import { listening } from '../http/wire.ts'
import { replace, stopClock } from '../stopped-clock.ts'
import { place, read } from './feed.ts'

async function emptyPage(t: Test) {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const acme = await shop.key('acme', 'order')
  const { next } = await read(shop, '/events', erp)
  return { shop, erp, acme, next }
}

t.test('Prefer: wait holds a request for an empty page until something happens that the caller hears', async (t) => {
  const { shop, erp, acme, next } = await emptyPage(t)
  const [seller, buyer] = [read(shop, next, { ...erp, prefer: 'wait=50' }), read(shop, next, { ...acme, prefer: 'respond-async, wait=40' })]
  const guests = await place(shop)
  const heard = await seller
  t.equal(heard.headers['preference-applied'], 'wait=50')
  t.equal(heard.page.event[0]?.resource, guests)
  const own = await place(shop, acme)
  const answer = await buyer
  t.equal(answer.headers['preference-applied'], 'wait=40')
  t.same(
    answer.page.event.map(({ resource }) => resource),
    [own],
    'the order of a guest has not ended the wait'
  )
})

t.test('a key that is revoked while its request waits hears nothing more', async (t) => {
  const { shop, acme, next } = await emptyPage(t)
  const other = await shop.key('acme', 'order')
  const [id] = (await shop.store.keys()).flatMap(({ id, customer }) => (customer === 'acme' ? [id] : []))
  const { eventHeads } = shop.store
  let hasLooked = false
  Object.assign(shop.store, {
    eventHeads: (query: EventQuery) => {
      hasLooked = true
      return eventHeads(query)
    }
  })
  const waiting = shop.app.inject({ url: next, headers: { ...acme, prefer: 'wait=50' } })
  while (!hasLooked) await pause(5)
  await shop.store.revokeKey(id ?? '')
  await place(shop, other)
  t.match(await waiting, { statusCode: 401, headers: { 'www-authenticate': /./ }, body: /was revoked or has expired/ })
})

t.test('a wait ends after its time with the empty page; what is no wait, or no empty page, is answered at once', async (t) => {
  const { shop, erp, next } = await emptyPage(t)
  const empty = await read(shop, next, { ...erp, prefer: 'wait=1' })
  t.same([empty.statusCode, empty.page.event, empty.headers['preference-applied']], [200, [], 'wait=1'])
  const again = await read(shop, next, { ...erp, prefer: 'wait=0', 'if-none-match': String(empty.headers.etag) })
  t.equal(again.statusCode, 304)
  for (const prefer of ['wait=x', 'wait', 'wait=-1', 'return=minimal'])
    t.equal((await read(shop, next, { ...erp, prefer })).headers['preference-applied'], undefined, prefer)
  const full = await read(shop, '/events', { ...erp, prefer: 'wait=600' })
  t.same([full.page.event.length > 0, full.headers['preference-applied']], [true, 'wait=60'])
})

t.test('a database that is lost for a moment ends no later wait', async (t) => {
  const { shop, erp, next } = await emptyPage(t)
  const { lastEvent } = shop.store
  const isLost = { next: true }
  Object.assign(shop.store, {
    lastEvent: () => {
      if (!isLost.next) return lastEvent()
      isLost.next = false
      return Promise.reject(new DomainError('store-unavailable', 'The database cannot be reached.'))
    }
  })
  const lost = await read(shop, next, { ...erp, prefer: 'wait=50' })
  t.equal(lost.statusCode, 503)
  const waiting = read(shop, next, { ...erp, prefer: 'wait=50' })
  await new Promise((resolve) => setImmediate(resolve))
  const uri = await place(shop)
  t.equal((await waiting).page.event[0]?.resource, uri)
})

t.test('a database that is lost for a moment while requests wait ends no wait', async (t) => {
  const { shop, erp, next } = await emptyPage(t)
  const { lastEvent } = shop.store
  let looks = 0
  const lost = new Promise<void>((resolve) => {
    Object.assign(shop.store, {
      lastEvent: async () => {
        looks++
        if (looks === 1 || looks > 3) return lastEvent()
        if (looks === 3) resolve()
        throw new DomainError('store-unavailable', 'The database cannot be reached.')
      }
    })
  })
  const waiting = read(shop, next, { ...erp, prefer: 'wait=50' })
  await lost
  const uri = await place(shop)
  const { statusCode, page } = await waiting
  t.same([statusCode, page.event.map(({ resource }) => resource)], [200, [uri]])
})

/** No wait ends because its time is over: on a busy machine it takes long until a thousand requests wait. */
function stopWaitingTime(t: Test): void {
  stopClock(t)
  const { setTimeout: start } = globalThis
  const startLong = (callback: () => void, milliseconds: number) => start(callback, milliseconds === 60_000 ? 2 ** 31 - 1 : milliseconds)
  replace(t, globalThis, 'setTimeout', startLong as typeof setTimeout)
}

t.test('an event is not missed when the database is lost while it is looked for', async (t) => {
  stopWaitingTime(t)
  const { shop, erp, next } = await emptyPage(t)
  const { eventHeads } = shop.store
  let [isLost, hasLooked] = [false, false]
  Object.assign(shop.store, {
    eventHeads: async (query: EventQuery) => {
      if (isLost || query.audience.types.length < eventTypes.length) {
        const heads = await eventHeads(query)
        hasLooked = true
        return heads
      }
      isLost = true
      throw new DomainError('store-unavailable', 'The database cannot be reached.')
    }
  })
  const waiting = read(shop, next, { ...erp, prefer: 'wait=60' })
  while (!hasLooked) await pause(5)
  const uri = await place(shop)
  t.equal((await waiting).page.event[0]?.resource, uri)
  t.ok(isLost)
})

t.test('a request whose cursor is deleted while it waits is answered', async (t) => {
  stopWaitingTime(t)
  const { shop, erp, next } = await emptyPage(t)
  const { lastEvent } = shop.store
  let looks = 0
  const deleted = new Promise<void>((resolve) => {
    Object.assign(shop.store, {
      lastEvent: async (audience?: Audience) => {
        looks++
        if (looks === 2) {
          await place(shop)
          await place(shop)
          await shop.store.pruneEvents(Date.now() + 60_000, 100)
          resolve()
        }
        return lastEvent(audience)
      }
    })
  })
  const waiting = read(shop, next, { ...erp, prefer: 'wait=60' })
  await deleted
  t.equal((await waiting).statusCode, 410)
})

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
