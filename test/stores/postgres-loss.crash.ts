import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { decimal } from '../../domain/money.ts'
import type { Store } from '../../domain/store.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { check } from './crash.ts'
import { load, type OutputLine, stockShop } from './crash-load.ts'
import { execute, startPostgres } from './embedded.ts'
import { draft, item, onHand, placing, purchase, shopCurrency, stocked } from './fixtures.ts'

const server = await startPostgres()
t.teardown(() => server.close())

async function open(t: Test, url: string): Promise<Store> {
  const store = await openPostgresStore({ url, currency: shopCurrency })
  t.teardown(() => store.close())
  return store
}

/** A database with the limits of a shop, where a test is about them. */
const impatient = (url: string) => Object.assign(new URL(url), { search: '' }).href

/** How long a shop waits for an answer to a statement, in milliseconds. */
const longestQuery = 15_000

async function untilItAnswers(store: Store): Promise<void> {
  const isUp = () =>
    store.ping().then(
      () => true,
      () => false
    )
  while (!(await isUp())) await sleep(50)
}

/** Writes and reads from many sides until it is stopped. The test fails on any refusal but `store-unavailable`. */
function startLoad(t: Test, stores: readonly [Store, ...Store[]]): { acknowledged(): number; stop(): Promise<OutputLine[]> } {
  const output: OutputLine[] = []
  let acknowledged = 0
  let isStopped = false
  const ended = load(stores, {
    say(line) {
      output.push(line)
      if ('acknowledged' in line) acknowledged += 1
    },
    async refused(error) {
      if (!(error instanceof DomainError && error.code === 'store-unavailable')) t.fail('refused otherwise', { error })
      await sleep(5)
    },
    isStopped: () => isStopped
  })
  return {
    acknowledged: () => acknowledged,
    async stop() {
      isStopped = true
      await ended
      return output
    }
  }
}

t.test('without the server every verb says so at once, and when it is back all goes on by itself', async (t) => {
  const store = await open(t, await server.database())
  await store.createProduct('a', stocked(1000))
  const { order } = await store.placeOrder(placing('a'))
  await server.stop()
  // The limits of this database are so long that the test would not end if a verb waited for one of them.
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
  await server.start()
  await untilItAnswers(store)
  t.equal((await store.placeOrder(placing('a'))).outcome, 'placed')
  t.equal((await store.orders({ limit: 10 })).items.length, 2)
  t.equal(await onHand(store, 'a'), '998')
})

t.test('connections that are ended midway lose nothing acknowledged and write nothing twice', async (t) => {
  const url = await server.database()
  const store = await open(t, url)
  await stockShop(store)
  const { acknowledged, stop } = startLoad(t, [store, await open(t, url)])
  let ended = 0
  // While the store is about to connect again there is none to end.
  while (ended < 20) {
    await sleep(20 + Math.random() * 60)
    const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
    ended += (await execute(url, sql)).length
  }
  await untilItAnswers(store)
  while (acknowledged() === 0) await sleep(10)
  const output = await stop()
  t.ok(ended >= 20 && acknowledged() > 0, `${ended} connections were ended, ${acknowledged()} writes acknowledged`)
  await untilIdle(url)
  t.same(await check(store, output), [])
})

t.test('a server that is killed under load loses nothing acknowledged, and the store finds it again', async (t) => {
  const url = await server.database()
  const store = await open(t, url)
  await stockShop(store)
  const { acknowledged, stop } = startLoad(t, [store, await open(t, url)])
  for (let i = 0; i < 3; i++) {
    // At a random moment of the load, wherever the transactions are then.
    const target = acknowledged() + 1 + Math.floor(Math.random() * 100)
    while (acknowledged() < target) await sleep(5)
    await server.kill()
    await server.start()
    const before = acknowledged()
    await untilItAnswers(store)
    while (acknowledged() === before) await sleep(10)
  }
  const output = await stop()
  t.ok(acknowledged() > 0, `${acknowledged()} writes acknowledged`)
  await untilIdle(url)
  t.same(await check(store, output), [])
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

/** Waits until the server has ended what came over connections that are gone. */
async function untilIdle(url: string): Promise<void> {
  const sql = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
  while ((await execute(url, sql)).length > 0) await sleep(10)
}

t.test('a write whose COMMIT has no answer says that it may be stored, and is not tried again', async (t) => {
  const database = await server.database()
  const { url, fail } = await proxied(t, database)
  const store = await open(t, url)
  await store.createProduct('a', stocked(10))
  const { order } = await store.placeOrder(placing('a', 1))
  fail.cut = 'COMMIT\0'
  const perhapsStored = { code: 'store-unavailable', message: /does not know whether it was stored/ }
  const idempotency = { scope: 's', key: 'k', fingerprint: 'f' }
  await t.rejects(store.placeOrder(placing('a', 2, { idempotency })), perhapsStored)
  await t.rejects(store.putProduct('b', draft(), {}), perhapsStored)
  await t.rejects(store.setOrderStatus(order.id, 'cancelled', {}), perhapsStored)
  fail.cut = 'BEGIN ISOLATION'
  await t.rejects(store.putProduct('c', draft(), {}), {
    code: 'store-unavailable',
    message: /cannot reach its database right now\. Nothing was stored\. Try/
  })
  delete fail.cut
  await untilIdle(database)
  t.equal((await store.orders({ limit: 10 })).items.length, 2, 'it was done once')
  t.equal((await store.order(order.id)).version, 2)
  t.equal((await store.product('b')).version, 1)
  await t.rejects(store.product('c'), { code: 'product-not-found' })
  t.equal(await onHand(store, 'a'), '8')
  t.ok((await store.placeOrder(placing('a', 2, { idempotency }))).replayed, 'and a client that tries again with its key learns so')
})

for (const cut of ['FOR UPDATE', 'UPDATE catalogue']) {
  t.test(`a connection that is lost at ${cut} is answered as unavailable, and the service lives on`, async (t) => {
    const { url, fail } = await proxied(t, await server.database())
    const store = await open(t, url)
    await store.createProduct('a', stocked(10))
    fail.cut = cut
    await t.rejects(store.putProduct('a', draft(), {}), { code: 'store-unavailable' })
    await t.rejects(store.placeOrder(placing('a', 10)), { code: 'store-unavailable' })
    delete fail.cut
    t.equal((await store.product('a')).version, 1)
    t.equal(await onHand(store, 'a'), '10')
    t.equal((await store.lastEvent())?.position, 2)
  })
}

t.test('a database that takes everything and answers nothing holds no caller for ever', async (t) => {
  const database = await server.database()
  await (await open(t, database)).createProduct('a', stocked(10))
  const { url, fail } = await proxied(t, impatient(database))
  const store = await open(t, url)
  fail.mute = true
  const began = Date.now()
  const attempts = [store.product('a'), store.placeOrder(placing('a')), store.putStock('a', decimal('5'), {}), store.products({ limit: 1 })]
  for (const result of await Promise.allSettled(attempts)) t.match(result, { status: 'rejected', reason: { code: 'store-unavailable' } })
  t.ok(Date.now() - began < 8 * longestQuery)
  fail.mute = false
  await untilItAnswers(store)
  await store.placeOrder(placing('a'))
})
