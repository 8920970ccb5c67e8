import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { orderXml, xml } from '../build.ts'
import { type RunningServer, runServer } from '../run-server.ts'
import { until } from '../until.ts'
import { startNameServer } from './name-server.ts'
import { send, startNginx } from './nginx.ts'

// A container that is created again gets another address under the same name, so nginx must look the name up again while it runs.

const settings = { TRUST_PROXY: '127.0.0.1' }
const portOf = ({ base }: RunningServer) => new URL(base).port

/** The addresses that nginx sent the last requests to. */
function lastUpstreams(log: string, count: number): Set<string> {
  const lines = readFileSync(log, 'utf8').trim().split('\n').slice(-count)
  return new Set(lines.map((line) => (JSON.parse(line) as { upstream: string }).upstream))
}

t.test('a shop that was made anew on another address is found by an nginx that runs', async (t) => {
  const names = await startNameServer(t)
  const shop = { ...settings, DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` }
  const before = await runServer(t, { ...shop, HOST: '127.0.0.2' })
  names.set('127.0.0.2')
  const { port } = await startNginx(t, { port: Number(portOf(before)), nameServer: names.port })
  const status = async () => (await send(port, '/order')).status
  await until(async () => (await status()) === 200, 'nginx finds the shop')
  const order = { method: 'POST', headers: { ...xml, 'idempotency-key': 'the one and only key' }, body: orderXml() }
  const placed = await send(port, '/order', order)
  t.equal(placed.status, 201)

  await before.end('SIGKILL')
  names.set()
  const meanwhile = await send(port, '/order', order)
  t.match(meanwhile, { status: 502, headers: { 'content-type': 'application/problem+xml', 'retry-after': '5' } }, 'while there is none')
  await until(async () => (await status()) === 502, 'nginx finds no shop')

  await runServer(t, { ...shop, HOST: '127.0.0.3', PORT: portOf(before) })
  names.set('127.0.0.3')
  await until(async () => (await status()) === 200, 'nginx finds the shop')
  for (let i = 0; i < 20; i++) t.equal(await status(), 200, 'and from then on')
  const again = await send(port, '/order', order)
  t.match(again, { status: 201, headers: { location: placed.headers.location, 'idempotent-replayed': 'true' } })
  for (const path of ['/product/a%2Fb', '//products', '/product/ABC%2D1']) {
    const [through, direct] = [await send(port, path), await fetch(`http://127.0.0.3:${portOf(before)}${path}`)]
    t.equal(through.status, direct.status, `${path} went through as it was written`)
  }
})

t.test('replicas that come and go under the name share the requests, and none of those fails', async (t) => {
  const names = await startNameServer(t)
  const folder = t.testdir()
  const replica = (number: number, PORT = '0') =>
    runServer(t, { ...settings, HOST: `127.0.0.${number}`, PORT, DATABASE_URL: `sqlite:${join(folder, `${number}.db`)}` })
  const first = await replica(4)
  const servicePort = portOf(first)
  names.set('127.0.0.4')
  const { port, log, errors } = await startNginx(t, { port: Number(servicePort), nameServer: names.port })
  const get = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const { status } = await send(port, '/order')
      if (!t.equal(status, 200)) t.comment(readFileSync(errors, 'utf8').slice(-5_000))
    }
    return lastUpstreams(log, count)
  }
  await until(async () => (await send(port, '/order')).status === 200, 'nginx finds the shop')
  await Promise.all([replica(5, servicePort), replica(6, servicePort)])
  names.set('127.0.0.4', '127.0.0.5', '127.0.0.6')
  await until(async () => (await get(20)).size === 3, 'all replicas are asked')

  // Docker removes the name of a container that it stops, but only a moment later.
  await first.end('SIGKILL')
  await get(20)
  names.set('127.0.0.5', '127.0.0.6')
  await until(async () => {
    const upstreams = await get(20)
    return upstreams.size === 2 && ![...upstreams].some((upstream) => upstream.includes('127.0.0.4'))
  }, 'the replica that was stopped is asked no more')
})
