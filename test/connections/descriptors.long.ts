import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { runServer } from '../run-server.ts'
import { until } from '../until.ts'

/** Whether the service answers over a connection. It may have closed the connection. */
async function answers(socket: Socket, path: string): Promise<boolean> {
  try {
    const request = get({ path, createConnection: () => socket, headers: { connection: 'keep-alive' } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    for await (const _ of response);
    return response.statusCode === 200
  } catch {
    return false
  }
}

const skip = existsSync('/proc/self/limits') ? false : 'this system does not tell how many files a process may open'

t.test('connections never take the last descriptor: more are refused, and the service goes on', { skip }, async (t) => {
  const settings = { DATABASE_URL: `sqlite:${t.testdir()}/tradepost.db`, OVERLOAD_DELAY: '86400000' }
  const server = await runServer(t, settings, undefined, 128)
  const open = new Set<Socket>()
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect(Number(new URL(server.base).port), '127.0.0.1').on('error', () => undefined)
    t.teardown(() => socket.destroy())
    open.add(socket)
    socket.resume()
    // `once` of node:events would reject where the connection is reset.
    return new Promise((resolve) => socket.once('close', resolve)).then(() => open.delete(socket))
  })
  while (open.size > 40) await pause(20)
  t.ok(open.size > 0)
  // Collecting the metrics opens files, too.
  let samples = 0
  for (const socket of open) {
    if (samples < 2 && (await answers(socket, '/metrics'))) samples++
  }
  t.equal(samples, 2)
  t.equal(server.process.exitCode, null)
  for (const socket of open) socket.destroy()
  await Promise.all(sockets)
  // Until the service has noticed that they are closed, it refuses new ones.
  const isReady = () =>
    fetch(`${server.base}/health/ready`).then(
      ({ status }) => status === 200,
      () => false
    )
  await until(isReady, 'the service takes connections again')
  t.equal(await server.end('SIGTERM'), 0)
})
