import t from 'tap'
import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import { build, type Shop } from '../build.ts'
import { checksByHand } from '../connections/serve-large.ts'
import { until } from '../connections/served.ts'
import { listening, message, Wire } from '../http/wire.ts'

/** Searches that end only when they are ended. */
function hold({ store }: Shop) {
  const held: (() => void)[] = []
  const products = store.products
  let most = 0
  store.products = async (query): Promise<Page<Product>> => {
    if (query.q !== 'slow') return products(query)
    await new Promise<void>((resolve) => {
      most = Math.max(most, held.push(resolve))
    })
    return products(query)
  }
  return {
    get most() {
      return most
    },
    /** Waits until no more than so many of the answers are still to come: the others were refused. */
    async untilPending(answers: readonly Promise<unknown>[], count: number): Promise<void> {
      let pending = answers.length
      for (const answer of answers) void answer.finally(() => pending--)
      while (pending > count) await new Promise((resolve) => setImmediate(resolve))
    },
    /** Ends searches until a promise is settled. */
    async endUntil<T>(settled: Promise<T>): Promise<T> {
      const ending = setInterval(() => held.shift()?.(), 1)
      return settled.finally(() => clearInterval(ending))
    }
  }
}

const search = ({ app }: Shop, remoteAddress: string, q = 'slow') => app.inject({ url: `/products?q=${q}`, remoteAddress })

t.test('one caller has few searches under way, and more of them are 429 with Retry-After', async (t) => {
  const shop = await build(t)
  const held = hold(shop)
  const all = Array.from({ length: 30 }, () => search(shop, '192.0.2.1'))
  await held.untilPending(all, 10)
  const answers = await held.endUntil(Promise.all(all))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 10)
  const refused = answers.filter(({ statusCode }) => statusCode === 429)
  t.equal(refused.length, 20)
  t.match(refused[0], {
    headers: { 'retry-after': /^\d+$/, 'content-type': 'application/problem+xml' },
    body: /Too many of your searches are in progress \(10 at most, 8 while others search\)\. Wait for one to finish\./
  })
  t.equal(held.most, 2, 'and of those few are looked for at a time')
  t.equal((await held.endUntil(search(shop, '192.0.2.1'))).statusCode, 200, 'then it may go on')
})

t.test('searches of all callers are bounded too, and over that it is 503 for a while, and counts', async (t) => {
  const shop = await build(t, { settings: { RATE_LIMIT: '10' } })
  const held = hold(shop)
  const all = Array.from({ length: 100 }, (_, i) => search(shop, `192.0.2.${i}`))
  await held.untilPending(all, 68)
  const answers = await held.endUntil(Promise.all(all))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 68)
  const refused = answers.filter(({ statusCode }) => statusCode === 503)
  t.equal(refused.length, 32)
  t.match(refused[0]?.headers, { ratelimit: /r=9;/ })
  t.equal(held.most, 4)
})

t.test('a client that searches without pause keeps no other from searching, or from other pages', async (t) => {
  const shop = await build(t)
  const held = hold(shop)
  const slow = Promise.all(Array.from({ length: 10 }, () => search(shop, '192.0.2.1')))
  t.equal((await search(shop, '192.0.2.2', 'bolt')).statusCode, 200)
  t.equal((await shop.app.inject({ url: '/products', remoteAddress: '192.0.2.1' })).statusCode, 200)
  t.same(
    (await held.endUntil(slow)).map(({ statusCode }) => statusCode),
    Array(10).fill(200)
  )
})

t.test('the customers behind one address search each for itself', async (t) => {
  const shop = await build(t)
  const held = hold(shop)
  const keys = [await shop.key('ACME', 'order'), await shop.key('Globex', 'order')]
  const all = keys.flatMap((headers) => Array.from({ length: 10 }, () => shop.app.inject({ url: '/products?q=slow', headers })))
  const statuses = (await held.endUntil(Promise.all(all))).map(({ statusCode }) => statusCode)
  t.same(statuses, Array(20).fill(200))
})

/** Makes the catalogue endless for as long as `isWanted` is true. */
function endless({ store }: Shop) {
  const real = store.allProducts
  const state = { isWanted: true, started: 0 }
  store.allProducts = () => {
    state.started++
    return state.isWanted ? forEver(real) : real()
  }
  return state
}

async function* forEver(read: Shop['store']['allProducts']) {
  for (;;) yield* read()
}

const catalogueOf = ({ app }: Shop, remoteAddress = '127.0.0.1') => app.inject({ url: '/catalogue', remoteAddress })

t.test('one caller reads few whole catalogues at a time, and a reader that leaves makes room', async (t) => {
  const shop = await build(t)
  const catalogues = endless(shop)
  await listening(shop.app)
  const readers = await Promise.all(
    Array.from({ length: 4 }, async () => (await Wire.open(t, shop.app)).pause().send(message('GET /catalogue')))
  )
  await until(() => catalogues.started === 4, 'four catalogues are read')
  catalogues.isWanted = false
  t.match(await catalogueOf(shop), { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  t.equal((await catalogueOf(shop, '192.0.2.9')).statusCode, 200, 'others read it')
  t.equal((await shop.app.inject({ url: '/catalogue', method: 'HEAD' })).statusCode, 200, 'HEAD reads nothing')
  for (const reader of readers) reader.abort()
  await until(async () => (await catalogueOf(shop)).statusCode === 200, 'a reader that left has made room')
})

t.test('all callers of one address together read a quarter of the whole catalogues that may be read at a time: more are 503', async (t) => {
  // Otherwise the readers become slow, and lose their places.
  checksByHand(t)
  const shop = await build(t)
  const keys = await Promise.all(Array.from({ length: 3 }, (_, i) => shop.key(`Customer ${i}`, 'order')))
  const catalogues = endless(shop)
  await listening(shop.app)
  const readers = Array.from({ length: 8 }, async (_, i) =>
    (await Wire.open(t, shop.app)).pause().send(message('GET /catalogue', keys[i % 2]))
  )
  await Promise.all(readers)
  await until(() => catalogues.started === 8, 'eight catalogues are read')
  catalogues.isWanted = false
  const third = await shop.app.inject({ url: '/catalogue', headers: keys[2] ?? {}, remoteAddress: '127.0.0.1' })
  t.match(third, { statusCode: 503, headers: { 'retry-after': /^\d+$/ } })
  t.equal((await catalogueOf(shop, '192.0.2.9')).statusCode, 200, 'another address reads it')
})

t.test('all callers together read few whole catalogues at a time: more are 503, and count', async (t) => {
  checksByHand(t)
  const shop = await build(t, { settings: { TRUST_PROXY: '127.0.0.1', RATE_LIMIT: '10' } })
  const catalogues = endless(shop)
  await listening(shop.app)
  const readers = Array.from({ length: 32 }, async (_, i) =>
    (await Wire.open(t, shop.app)).pause().send(message('GET /catalogue', { 'x-forwarded-for': `192.0.2.${i % 8}` }))
  )
  await Promise.all(readers)
  await until(() => catalogues.started === 32, '32 catalogues are read')
  catalogues.isWanted = false
  for (const left of [9, 8]) {
    t.match(await catalogueOf(shop, '192.0.2.9'), {
      statusCode: 503,
      headers: { 'retry-after': /^\d+$/, ratelimit: new RegExp(`r=${left};`) }
    })
  }
})

t.test('requests in a row whose connection is reset leave no place taken', async (t) => {
  const shop = await build(t)
  await listening(shop.app)
  const catalogues = endless(shop)
  const wire = (await Wire.open(t, shop.app)).pause().send(message('GET /catalogue').repeat(8))
  await until(() => catalogues.started > 0, 'a catalogue is read')
  catalogues.isWanted = false
  wire.abort()
  await until(async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => catalogueOf(shop)))
    return answers.every(({ statusCode }) => statusCode === 200)
  }, 'all places are free again')
  t.pass('all places are free again')
})
