import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { orderXml, xml } from '../build.ts'
import { runServer } from '../run-server.ts'

t.test('the process that serves never loads libxml2, also when it reads orders', { skip: process.platform !== 'linux' }, async (t) => {
  const { base, process: server, end } = await runServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` })
  const placed = await fetch(`${base}/order`, { method: 'POST', headers: xml, body: orderXml() })
  t.equal(placed.status, 201)
  const maps = readFileSync(`/proc/${server.pid}/maps`, 'utf8')
  t.match(maps, /better_sqlite3\.node/, 'what it has loaded can be seen')
  t.notMatch(maps, /xmljs\.node/)
  t.equal(await end('SIGTERM'), 0)
})
