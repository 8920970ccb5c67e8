import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { type Audience, eventTypes } from '../../domain/event.ts'
import type { EventQuery } from '../../domain/store.ts'
import { emptyPage, place, read, stopWaitingTime } from './feed.ts'

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
