import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { add, decimal, plain } from '../../domain/money.ts'
import type { Store } from '../../domain/store.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { execute, startPostgres } from './embedded.ts'
import { draft, everything, item, onHand, placing, purchase, shopCurrency, stocked } from './fixtures.ts'

const server = await startPostgres()
t.teardown(() => server.close())

async function open(t: Test, url: string): Promise<Store> {
  const store = await openPostgresStore({ url, currency: shopCurrency })
  t.teardown(() => store.close())
  return store
}

/** How long a test waits, in milliseconds, for what takes a few seconds where nothing else runs. */
const patience = 120_000

async function untilItAnswers(store: Store): Promise<void> {
  for (const end = Date.now() + patience; ; await sleep(50)) {
    try {
      return await store.ping()
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/** Places orders from many sides until it is stopped; only ever refused as the store being out of reach. */
function load(t: Test, store: Store, writers = 16): { acknowledged: Set<string>; stop(): Promise<void> } {
  const acknowledged = new Set<string>()
  let stopped = false
  const write = async () => {
    while (!stopped) {
      try {
        acknowledged.add((await store.placeOrder(placing('a', 1))).order.id)
      } catch (error) {
        if (!(error instanceof DomainError && error.code === 'store-unavailable')) t.fail('refused otherwise', { error })
        await sleep(5)
      }
    }
  }
  const writing = Array.from({ length: writers }, write)
  return {
    acknowledged,
    stop: async () => {
      stopped = true
      await Promise.all(writing)
    }
  }
}

async function addsUp(t: Test, store: Store, acknowledged: ReadonlySet<string>, start: string): Promise<void> {
  const ids = (await everything((after) => store.orders({ limit: 500, ...after }))).map(({ id }) => id)
  const there = new Set(ids)
  t.equal(there.size, ids.length, 'no order is there twice')
  t.same(
    [...acknowledged].filter((id) => !there.has(id)),
    [],
    `all of ${acknowledged.size} acknowledged orders are there`
  )
  t.equal(plain(add(await onHand(store, 'a'), decimal(String(ids.length)))), start)
}

t.test('without the server every verb says so soon, and when it is back all goes on by itself', async (t) => {
  const store = await open(t, await server.database())
  await store.createProduct('a', stocked(1000))
  const { order } = await store.placeOrder(placing('a'))
  await server.stop()
  const began = Date.now()
  const attempts: Record<string, () => Promise<unknown>> = {
    product: () => store.product('a'),
    products: () => store.products({ limit: 1, q: 'hammer', updatedSince: 1 }),
    revision: () => store.revision(),
    createProduct: () => store.createProduct('b', draft()),
    putProduct: () => store.putProduct('a', draft(), {}),
    deleteProduct: () => store.deleteProduct('a', {}),
    importProducts: () => store.importProducts([{ id: 'b', draft: draft() }]),
    allProducts: () => store.allProducts()[Symbol.asyncIterator]().next(),
    stock: () => store.stock('a'),
    putStock: () => store.putStock('a', decimal('1'), {}),
    placeOrder: () => store.placeOrder(placing('a')),
    order: () => store.order(order.id),
    orders: () => store.orders({ limit: 1 }),
    changeOrder: () => store.changeOrder(order.id, purchase([item('a', 2)]), {}),
    setOrderStatus: () => store.setOrderStatus(order.id, 'shipped', {}),
    createKey: () => store.createKey({ customer: 'acme', scopes: [], hash: 'a'.repeat(64) }),
    keys: () => store.keys(),
    revokeKey: () => store.revokeKey('a'),
    findKey: () => store.findKey('a'),
    touchKeys: () => store.touchKeys([{ id: 'a', at: 1 }]),
    isEmpty: () => store.isEmpty(),
    ping: () => store.ping()
  }
  for (const [verb, attempt] of Object.entries(attempts)) await t.rejects(attempt(), { code: 'store-unavailable' }, verb)
  await t.rejects(openPostgresStore({ url: await server.database('postgres'), currency: shopCurrency }), {
    name: 'StoreOpenError',
    message: /cannot be reached/
  })
  t.ok(Date.now() - began < patience)
  await server.start()
  await untilItAnswers(store)
  t.equal((await store.placeOrder(placing('a'))).outcome, 'placed')
  await addsUp(t, store, new Set([order.id]), '1000')
})

t.test('connections that are ended midway lose nothing acknowledged and write nothing twice', async (t) => {
  const url = await server.database()
  const store = await open(t, url)
  await store.createProduct('a', stocked(1_000_000))
  const { acknowledged, stop } = load(t, store)
  let ended = 0
  // While the store is about to connect again there is none to end.
  while (ended < 20) {
    await sleep(20 + Math.random() * 60)
    const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    ended += (await execute(url, sql)).length
  }
  await untilItAnswers(store)
  while (acknowledged.size === 0) await sleep(10)
  await stop()
  t.ok(ended >= 20 && acknowledged.size > 0, `${ended} connections were ended, ${acknowledged.size} orders acknowledged`)
  await addsUp(t, store, acknowledged, '1000000')
})

t.test('a server that is killed under load loses nothing acknowledged, and the store finds it again', async (t) => {
  const store = await open(t, await server.database())
  await store.createProduct('a', stocked(1_000_000))
  const { acknowledged, stop } = load(t, store)
  for (let i = 0; i < 3; i++) {
    // At a random moment of the load, wherever the transactions are then.
    const target = acknowledged.size + 1 + Math.floor(Math.random() * 100)
    while (acknowledged.size < target) await sleep(5)
    await server.kill()
    await server.start()
    const before = acknowledged.size
    await untilItAnswers(store)
    while (acknowledged.size === before) await sleep(10)
  }
  await stop()
  t.ok(acknowledged.size > 0, `${acknowledged.size} orders acknowledged`)
  await addsUp(t, store, acknowledged, '1000000')
})

/** A way to the database that can fail: `cut` ends a connection that sends this text, `mute` lets nothing more through. */
async function proxied(t: Test, url: string): Promise<{ url: string; fail: { cut?: string; mute?: boolean } }> {
  const target = new URL(url)
  const { hostname, port } = target
  const fail: { cut?: string; mute?: boolean } = {}
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    client.on('data', (data) => {
      if (fail.mute) return
      upstream.write(data)
      if (fail.cut !== undefined && data.includes(fail.cut)) client.destroy()
    })
    upstream.on('data', (data) => fail.mute || client.write(data))
    client.on('close', () => upstream.end())
    upstream.on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  target.port = String(address.port)
  return { url: target.href, fail }
}

/** The server may still be at what came over a connection that is gone. */
async function untilIdle(url: string): Promise<void> {
  const sql = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
  while ((await execute(url, sql)).length > 0) await sleep(10)
}

t.test('a COMMIT whose answer is lost is answered as unavailable, and not tried again', async (t) => {
  const database = await server.database()
  const { url, fail } = await proxied(t, database)
  const store = await open(t, url)
  await store.createProduct('a', stocked(10))
  const { order } = await store.placeOrder(placing('a', 1))
  fail.cut = 'COMMIT\0'
  const idempotency = { scope: 's', key: 'k', fingerprint: 'f' }
  await t.rejects(store.placeOrder(placing('a', 2, { idempotency })), { code: 'store-unavailable' })
  await t.rejects(store.putProduct('b', draft(), {}), { code: 'store-unavailable' })
  await t.rejects(store.setOrderStatus(order.id, 'cancelled', {}), { code: 'store-unavailable' })
  delete fail.cut
  await untilIdle(database)
  t.equal((await store.orders({ limit: 10 })).items.length, 2, 'it was done once')
  t.equal((await store.order(order.id)).version, 2)
  t.equal((await store.product('b')).version, 1)
  t.equal(await onHand(store, 'a'), '8')
  t.ok((await store.placeOrder(placing('a', 2, { idempotency }))).replayed, 'and a client that tries again with its key learns so')
})

t.test('a database that takes everything and answers nothing holds no caller for ever', async (t) => {
  const { url, fail } = await proxied(t, await server.database())
  const store = await open(t, url)
  await store.createProduct('a', stocked(10))
  fail.mute = true
  const began = Date.now()
  const attempts = [store.product('a'), store.placeOrder(placing('a')), store.putStock('a', decimal('5'), {}), store.products({ limit: 1 })]
  for (const result of await Promise.allSettled(attempts)) t.match(result, { status: 'rejected', reason: { code: 'store-unavailable' } })
  t.ok(Date.now() - began < patience)
  fail.mute = false
  await untilItAnswers(store)
  await store.placeOrder(placing('a'))
})
