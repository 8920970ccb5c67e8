import t from 'tap'
import { buildOps } from '../../app.ts'
import { reach } from '../../background/readiness.ts'
import { DomainError } from '../../domain/errors.ts'
import { build } from '../build.ts'

t.test('the service is live and ready, and no cache may answer for it', async (t) => {
  const { app } = await build(t, { settings: { BASE_URL: '/shop' } })
  for (const [url, status] of [
    ['/health/live', 'live'],
    ['/health/ready', 'ready']
  ] as const) {
    const answer = await app.inject(url)
    t.equal(answer.statusCode, 200)
    t.strictSame(answer.json(), { status })
    t.equal(answer.headers['cache-control'], 'no-store')
    t.equal((await app.inject({ method: 'HEAD', url })).statusCode, 200)
  }
})

t.test('health is answered to callers over the rate limit', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: '1' } })
  for (let i = 0; i < 5; i++) t.equal((await app.inject('/health/ready')).statusCode, 200)
})

t.test('the service is not ready without its database, and ready again with it', async (t) => {
  const { app, store } = await build(t)
  const ping = store.ping.bind(store)
  store.ping = () => Promise.reject(new Error('gone'))
  const without = await app.inject('/health/ready')
  t.equal(without.headers['retry-after'], '5')
  t.equal(without.statusCode, 503)
  t.strictSame(without.json(), { status: 'database out of reach' })
  t.equal((await app.inject('/health/live')).statusCode, 200)
  store.ping = ping
  t.equal((await app.inject('/health/ready')).statusCode, 200)
})

t.test('health and metrics look no key up, so that they are answered while the database is gone', async (t) => {
  const { app, store, key } = await build(t)
  const seller = await key('Seller', 'fulfilment')
  store.findKey = () => Promise.reject(new DomainError('store-unavailable', 'gone'))
  for (const headers of [seller, { authorization: 'Bearer tp_wrong' }, { authorization: 'Basic !' }]) {
    for (const url of ['/health/live', '/health/ready', '/metrics']) {
      t.equal((await app.inject({ url, headers })).statusCode, 200, `${url} ${headers.authorization}`)
      t.equal((await app.inject({ method: 'HEAD', url, headers })).statusCode, 200)
    }
  }
  t.equal((await app.inject({ url: '/products', headers: seller })).statusCode, 503)
})

t.test('the service is not ready when its database does not answer in time', async (t) => {
  const { app, store } = await build(t)
  store.ping = () => new Promise(() => undefined)
  t.equal((await app.inject('/health/ready')).statusCode, 503)
})

t.test('all who ask at once share one look at the database, because no rate limit bounds them', async (t) => {
  let pings = 0
  let answer = () => {}
  const store = {
    ping() {
      pings++
      return new Promise<void>((resolve) => (answer = resolve))
    }
  }
  const asked = Array.from({ length: 100 }, () => reach(store))
  t.equal(pings, 1)
  answer()
  await Promise.all(asked)
  const later = reach(store)
  t.equal(pings, 2, 'and who asks later gets a look of its own')
  answer()
  await later
})

t.test('with a port of their own, health and metrics are there, and nowhere else', async (t) => {
  const { app, config } = await build(t, { settings: { OPS_PORT: '0' } })
  let stopping = false
  const ops = await buildOps({ config, app, isStopping: () => stopping })
  t.teardown(() => ops.close())
  for (const url of ['/health/live', '/health/ready', '/metrics']) {
    t.equal((await app.inject(url)).statusCode, 404, `${url} on the shop's port`)
    t.equal((await ops.inject(url)).statusCode, 200, `${url} on the operator's`)
    const post = await ops.inject({ method: 'POST', url })
    t.equal(post.statusCode, 405)
    t.equal(post.headers['allow'], 'GET, HEAD, OPTIONS')
  }
  t.match((await ops.inject('/products')).headers['content-type'], 'application/problem+xml')
  t.ok((await ops.inject('/metrics')).body.includes('http_request_duration_seconds_bucket{'))
  t.ok((await ops.inject('/health/live')).headers['x-request-id'])
  const described = Object.keys((await app.inject('/openapi.json')).json().paths)
  t.notOk(described.includes('/metrics'), 'what is not on the port is not described')
  stopping = true
  t.strictSame((await ops.inject('/health/ready')).json(), { status: 'stopping' })
})
