import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { message } from './http/wire.ts'
import { resetClients } from './reset-clients.ts'
import { runServer } from './run-server.ts'

t.test('a reset at any moment is no error of the service: nothing fails, and nothing stays behind', async (t) => {
  const server = await runServer(t, { DATABASE_URL: `sqlite:${t.testdir()}/tradepost.db`, RATE_LIMIT: '100000' })
  const lines: string[] = []
  server.process.stdout?.on('data', (chunk: Buffer) => lines.push(chunk.toString()))
  const port = Number(new URL(server.base).port)
  await resetClients(port, 60, async (what) => {
    t.equal((await fetch(`${server.base}/health/live`)).status, 200, what)
  })
  let metrics = ''
  // The request for the metrics is in flight itself.
  while (!metrics.includes('http_requests_in_flight 1\n')) metrics = await (await fetch(`${server.base}/metrics`)).text()
  t.notMatch(metrics, /status="5/)
  await server.end('SIGTERM')
  t.same(lines.join('').match(/"level":[456]0.*/g), null)
})

const waitingClients = 1_000
const isTooFew = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) < waitingClients && 'net.core.somaxconn is lower'

t.test('clients that connect while the process does not run are answered when it does', { skip: isTooFew }, async (t) => {
  const limits = { RATE_LIMIT: '100000', OVERLOAD_DELAY: 'off' }
  const server = await runServer(t, { DATABASE_URL: `sqlite:${t.testdir()}/tradepost.db`, ...limits })
  const port = Number(new URL(server.base).port)
  t.ok(server.process.kill('SIGSTOP'))
  const clients = Array.from({ length: waitingClients }, () => connect(port, '127.0.0.1'))
  t.teardown(() => clients.map((client) => client.destroy()))
  await Promise.all(clients.map((client) => once(client, 'connect', { signal: AbortSignal.timeout(60_000) })))
  server.process.kill('SIGCONT')
  const answers = clients.map(async (client) => {
    client.write(message('GET /product/ABC-1', { connection: 'close' }))
    return (await text(client)).slice(0, 12)
  })
  t.same([...new Set(await Promise.all(answers))], ['HTTP/1.1 200'])
})
