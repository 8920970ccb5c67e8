import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Scope } from '../../domain/caller.ts'
import { hashKey } from '../../http/credentials.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import type { Answered } from '../ask.ts'
import { form, orderXml, xml } from '../build.ts'
import { type RunningServer, runServer } from '../run-server.ts'
import { startPostgres } from '../stores/embedded.ts'
import { everything, stocked } from '../stores/fixtures.ts'
import { type Sent, send, startNginx } from './nginx.ts'

// Three processes on one PostgreSQL behind nginx with docker/nginx.conf, which gives each request to the next of them.

const replicas = 3
const postgres = await startPostgres({ max_connections: '200', fsync: 'off' })
t.teardown(() => postgres.close())

interface Shop {
  readonly servers: readonly RunningServer[]
  send(path: string, sent?: Sent): Promise<Answered>
  /** To one replica, past nginx. */
  sendTo(replica: number, path: string, sent?: Sent): Promise<Answered>
  key(customer: string, ...scopes: Scope[]): Promise<{ authorization: string }>
  /** The number of requests from nginx for each replica that had any. */
  spread(): number[]
  readonly store: Awaited<ReturnType<typeof openPostgresStore>>
}

async function open(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const url = await postgres.database()
  const start = () =>
    runServer(t, { DATABASE_URL: url, SAMPLE_CATALOGUE: 'off', TRUST_PROXY: '127.0.0.1', SESSION_SECRET: 'a'.repeat(64), ...settings })
  // All replicas start at once on an empty database. Each either applies a migration or finds it applied.
  const servers = await Promise.all(Array.from({ length: replicas }, start))
  const ports = servers.map(({ base }) => Number(new URL(base).port))
  const { port, log } = await startNginx(t, ports)
  const store = await openPostgresStore({ url, currency: 'EUR' })
  t.teardown(() => store.close())
  let keys = 0
  return {
    servers,
    store,
    send: (path, sent) => send(port, path, sent),
    sendTo: (replica, path, sent) => send(ports[replica] ?? 0, path, sent),
    async key(customer, ...scopes) {
      const key = `tp_${keys++}${'0'.repeat(30)}`
      await store.createKey({ customer, scopes, hash: hashKey(key) })
      return { authorization: `Bearer ${key}` }
    },
    spread() {
      const lines = readFileSync(log, 'utf8').trim().split('\n')
      const counts = new Map<string, number>()
      for (const line of lines) {
        const { upstream } = JSON.parse(line) as { upstream: string }
        counts.set(upstream, (counts.get(upstream) ?? 0) + 1)
      }
      return [...counts.values()]
    }
  }
}

const post = (headers: Sent['headers'] = {}, body = orderXml()): Sent => ({ method: 'POST', headers: { ...xml, ...headers }, body })

t.test('an answer of one replica is valid on every other', async (t) => {
  const shop = await open(t)
  const { store } = shop
  await store.createProduct('ABC-1', stocked(1000))
  const acme = await shop.key('ACME', 'order', 'catalogue')

  await t.test('the same bytes and tags, 304 to a tag of another, and none to one that is old', async (t) => {
    for (const accept of ['application/xml', 'text/html', 'application/json']) {
      const answers: Answered[] = []
      for (let i = 0; i < replicas; i++) answers.push(await shop.sendTo(i, '/product/ABC-1', { headers: { accept } }))
      t.equal(new Set(answers.map(({ headers, body }) => `${headers.etag} ${headers['last-modified']} ${body}`)).size, 1, accept)
    }
    // With a key, nginx answers nothing from its cache.
    const { headers } = await shop.send('/product/ABC-1', { headers: acme })
    const tag = String(headers.etag)
    const again = { headers: { ...acme, 'if-none-match': tag } }
    for (let i = 0; i < 2 * replicas; i++) t.equal((await shop.send('/product/ABC-1', again)).status, 304)
    const body = '<product><name>Changed</name><price>1.00</price><unit>C62</unit></product>'
    const put: Sent = { method: 'PUT', headers: { ...xml, ...acme, 'if-match': tag }, body }
    t.equal((await shop.send('/product/ABC-1', put)).status, 200)
    for (let i = 0; i < 2 * replicas; i++) t.match(await shop.send('/product/ABC-1', again), { status: 200, body: /Changed/ })
    for (let i = 0; i < replicas; i++) t.equal((await shop.send('/product/ABC-1', put)).status, 412)
    const pages = new Set<string>()
    for (let i = 0; i < replicas; i++) pages.add(String((await shop.sendTo(i, '/products')).headers.etag))
    t.equal(pages.size, 1)
  })

  await t.test('one order for one Idempotency-Key and for one order number, one at a time and all at once', async (t) => {
    const one = post({ 'idempotency-key': 'one key for all of them' })
    const first = await shop.send('/order', one)
    t.equal(first.status, 201)
    for (let i = 0; i < 2 * replicas; i++) {
      const { location, 'idempotent-replayed': replayed } = (await shop.send('/order', one)).headers
      t.same([location, replayed], [first.headers.location, 'true'])
    }
    t.equal((await shop.send('/order', post({ 'idempotency-key': 'one key for all of them' }, orderXml({ 'ABC-1': 2 })))).status, 422)
    const same = await Promise.all(
      Array.from({ length: 100 }, () => shop.send('/order', post({ 'idempotency-key': 'many with the same key' })))
    )
    t.same(same.filter(({ status }) => status !== 201 && status !== 409).length, 0)
    t.equal(new Set(same.flatMap(({ headers }) => headers.location ?? [])).size, 1)
    const numbered =
      '<purchase-order><order-number>PO-1</order-number><item><product-id>ABC-1</product-id><quantity>1</quantity></item></purchase-order>'
    const by = await Promise.all(Array.from({ length: 50 }, () => shop.send('/order', post(acme, numbered))))
    t.same(by.map(({ status }) => status).sort(), [...Array(49).fill(200), 201])
    t.equal(new Set(by.map(({ headers }) => headers.location)).size, 1)
    t.equal((await store.orders({ limit: 100 })).items.length, 3)
  })

  await t.test('fifty clients that read one version of an order: one changes it', async (t) => {
    const { headers } = await shop.send('/order', post())
    const [uri, tag] = [String(headers.location), String(headers.etag)]
    const put = (quantity: number) =>
      shop.send(uri, { method: 'PUT', headers: { ...xml, 'if-match': tag }, body: orderXml({ 'ABC-1': quantity }) })
    const statuses = (await Promise.all(Array.from({ length: 50 }, (_, i) => put(i + 2)))).map(({ status }) => status)
    t.same(statuses.sort(), [200, ...Array(49).fill(412)])
  })

  await t.test('a person stays signed in, a cursor goes on, a revoked key is refused', async (t) => {
    const seller = await shop.key('Shop', 'fulfilment')
    const body = new URLSearchParams({ key: seller.authorization.slice(7) }).toString()
    const { headers } = await shop.send('/session', {
      method: 'POST',
      headers: { ...form, accept: 'text/html', 'sec-fetch-site': 'same-origin' },
      body
    })
    const cookie = String(headers['set-cookie']?.[0]).split(';')[0]
    for (let i = 0; i < 2 * replicas; i++) t.equal((await shop.send('/orders', { headers: { cookie, accept: 'text/html' } })).status, 200)
    const ids: string[] = []
    for (let next: string | undefined = '/orders?limit=1'; next !== undefined; ) {
      const { body } = await shop.send(next, { headers: { ...seller, accept: 'application/json' } })
      const page = JSON.parse(body) as { order: { id: string }[]; link: { rel: string; href: string }[] }
      ids.push(...page.order.map(({ id }) => id))
      next = page.link.find(({ rel }) => rel === 'next')?.href
    }
    t.same(
      ids,
      (await store.orders({ limit: 100 })).items.map(({ id }) => id)
    )
    const revoked = (await store.keys()).find(({ customer }) => customer === 'Shop')
    t.ok(await store.revokeKey(revoked?.id ?? ''))
    for (let i = 0; i < 2 * replicas; i++) t.equal((await shop.send('/orders', { headers: seller })).status, 401)
    t.notMatch(await shop.send('/orders', { headers: { cookie, accept: 'text/html' } }), { status: 200 })
  })

  const spread = shop.spread()
  t.ok(spread.length >= replicas && spread.every((count) => count > 10), `each replica had its share: ${spread}`)
})

t.test('the rate is counted by each replica: behind three, a caller has three times the limit', async (t) => {
  const shop = await open(t, { RATE_LIMIT: '5' })
  const statuses: number[] = []
  for (let i = 0; i < 6 * replicas; i++) statuses.push((await shop.send('/order')).status)
  t.same(statuses, [...Array(5 * replicas).fill(200), ...Array(replicas).fill(429)])
})

t.test('replicas are killed and stopped while orders come: every acknowledged one is there once, and stock adds up', async (t) => {
  const { send, servers, store } = await open(t)
  const stock = 100_000
  await store.createProduct('ABC-1', stocked(stock))
  const acknowledged: string[] = []
  const answers = new Map<number, number>()
  let isOver = false

  /** Sends an order as every client should: again, with the same key, until it is answered with 201. */
  async function order(key: string): Promise<void> {
    for (;;) {
      const { status, headers } = await send('/order', post({ 'idempotency-key': key }))
      answers.set(status, (answers.get(status) ?? 0) + 1)
      if (status === 201) {
        acknowledged.push(String(headers.location))
        return
      }
      await sleep(20)
    }
  }
  async function client(name: number): Promise<void> {
    for (let i = 0; !isOver; i++) await order(`an order of client ${name}-${i}`)
  }

  const clients = Promise.all(Array.from({ length: 24 }, (_, name) => client(name)))
  const more = async () => {
    for (const before = acknowledged.length; acknowledged.length < before + 200; ) await sleep(20)
  }
  await more()
  await servers[0]?.end('SIGKILL')
  await more()
  t.equal(await servers[1]?.end('SIGTERM'), 0)
  await more()
  isOver = true
  await clients
  t.same(
    [...answers.keys()].filter((status) => ![201, 409, 502, 503].includes(status)),
    [],
    JSON.stringify([...answers])
  )
  const orders = await everything((after) => store.orders({ limit: 500, ...after }))
  const uris = orders.map(({ id }) => `/order/${id}`)
  t.ok(acknowledged.length > 100, `${acknowledged.length} orders`)
  t.same([...uris].sort(), [...acknowledged].sort(), 'every acknowledged order is there once, and no other')
  t.equal(Number((await store.stock('ABC-1')).onHand), stock - orders.length)
})
