import t from 'tap'
import { build, orderXml, xml } from '../build.ts'

t.test("metrics are in Prometheus's text format, and never cached", async (t) => {
  const { app } = await build(t, { settings: { BASE_URL: '/shop' } })
  const answer = await app.inject('/metrics')
  t.equal(answer.statusCode, 200)
  t.match(answer.headers['content-type'], /^text\/plain; version=0\.0\.4/)
  t.equal(answer.headers['cache-control'], 'no-store')
  for (const line of answer.body.split('\n')) t.match(line, /^$|^# (?:HELP|TYPE) \S+ .+|^[a-z_]\w*(?:\{[^}]*\})? \S+$/)
  for (const name of [
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
    'tradepost_info{release="test"} 1',
    'tradepost_store_up 1'
  ]) {
    t.ok(answer.body.includes(name), name)
  }
  const names = [...answer.body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  t.equal(new Set(names).size, names.length, 'every metric is there once')
})

t.test('a database that does not answer is seen in the metrics', async (t) => {
  const { app, store } = await build(t)
  store.ping = () => Promise.reject(new Error('gone'))
  t.ok((await app.inject('/metrics')).body.includes('\ntradepost_store_up 0\n'))
})

t.test('services in one process have metrics of their own', async (t) => {
  const placed = 'tradepost_orders_total{outcome="placed"}'
  const { app } = await build(t)
  await app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml() })
  t.ok((await app.inject('/metrics')).body.includes(`${placed} 1`))
  await t.test('another one', async (t) => {
    const other = await build(t)
    t.ok((await other.app.inject('/metrics')).body.includes(`${placed} 0`))
  })
})

t.test('however many ask for the metrics at once, they are written for all of them together', async (t) => {
  const { app } = await build(t)
  const { registry } = app.metrics
  const { metrics } = registry
  let written = 0
  registry.metrics = () => {
    written++
    return metrics.call(registry)
  }
  const answers = await Promise.all(Array.from({ length: 200 }, () => app.inject('/metrics')))
  for (const { statusCode } of answers) t.equal(statusCode, 200)
  t.ok(written <= 2, `written ${written} times`)
})
