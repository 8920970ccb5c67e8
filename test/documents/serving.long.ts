import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../stores/open.ts'
import { build, databaseUrl, draft, orderXml, xml } from '../build.ts'
import { runServer } from '../run-server.ts'
import { documentProcesses } from './processes.ts'

const skip = process.platform === 'linux' ? false : 'this system does not tell what a process has loaded, started and used'

t.test('the process that serves never loads libxml2, also when it reads orders', { skip }, async (t) => {
  const { base, process: server, end } = await runServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` })
  const placed = await fetch(`${base}/order`, { method: 'POST', headers: xml, body: orderXml() })
  t.equal(placed.status, 201)
  const maps = readFileSync(`/proc/${server.pid}/maps`, 'utf8')
  t.match(maps, /better_sqlite3\.node/, 'what it has loaded can be seen')
  t.notMatch(maps, /xmljs\.node/)
  t.equal(await end('SIGTERM'), 0)
})

function ordering(lines: number): string {
  return `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'.repeat(lines)}</purchase-order>`
}

t.test('however many large documents wait to be read, others are answered, and health is', { skip }, async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const place = (remoteAddress: string) =>
    app.inject({ method: 'POST', url: '/order', remoteAddress, headers: xml, payload: ordering(2_000) })
  t.equal((await place('192.0.2.1')).statusCode, 201)
  const reading = documentProcesses()
  t.ok(reading.length > 0)
  const signal = (name: NodeJS.Signals) => {
    // A process without work ends after a while, which may be during this test if the machine is busy.
    for (const pid of documentProcesses()) if (reading.includes(pid)) process.kill(pid, name)
  }
  signal('SIGSTOP')
  t.teardown(() => signal('SIGCONT'))
  const statuses: number[] = []
  const waiting = Array.from({ length: 8 }, async () => statuses.push((await place('192.0.2.1')).statusCode))
  for (let i = 0; i < 10; i++) {
    t.equal((await app.inject({ url: '/product/ABC-1', remoteAddress: '192.0.2.2' })).statusCode, 200)
    t.equal((await app.inject('/health/live')).statusCode, 200)
  }
  t.same(statuses, [], 'none of them has been read')
  signal('SIGCONT')
  await Promise.all(waiting)
  t.same(statuses, new Array(8).fill(201))
})

/** Nanoseconds of processor time that the main thread of a process has used, and all of its threads and children. */
function processorTime(pid: number | undefined): { readonly serving: number; readonly all: number } {
  const used = (path: string) => Number(readFileSync(`${path}/schedstat`, 'utf8').split(' ')[0])
  const threads = (of: number | string) => readdirSync(`/proc/${of}/task`).map((thread) => `/proc/${of}/task/${thread}`)
  const own = threads(pid ?? 0)
  const children = own.flatMap((path) => readFileSync(`${path}/children`, 'utf8').trim().split(' ').filter(Boolean))
  const all = [...own, ...children.flatMap(threads)].map(used)
  return { serving: used(`/proc/${pid}/task/${pid}`), all: all.reduce((sum, time) => sum + time, 0) }
}

t.test('the thread that serves does a small part of the work on large orders, in every notation', { skip }, async (t) => {
  const url = await databaseUrl(t)
  const store = await openStore(url, 'EUR')
  await store.importProducts([{ id: 'ABC-1', draft: draft({ onHand: '1000000' as never }) }])
  await store.close()
  const { base, process: server, end } = await runServer(t, { DATABASE_URL: url })
  for (const lines of [1_000, 10_000]) {
    const before = processorTime(server.pid)
    for (let i = 0; i < 2; i++) {
      const placed = await fetch(`${base}/order`, { method: 'POST', headers: xml, body: ordering(lines) })
      t.equal(placed.status, 201, await placed.text())
      const uri = new URL(String(placed.headers.get('location')), base)
      for (const accept of ['application/xml', 'application/json', 'text/html']) {
        const read = await fetch(uri, { headers: { accept } })
        t.equal(read.status, 200)
        await read.arrayBuffer()
      }
    }
    const after = processorTime(server.pid)
    const share = (after.serving - before.serving) / (after.all - before.all)
    t.ok(share < 1 / 3, `${share} of the work on orders of ${lines} lines`)
  }
  t.equal(await end('SIGTERM'), 0)
})
