import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { Connections } from '../../http/connections.ts'
import { parserOf } from '../../http/parser.ts'

/** A server without the application, with its connections, and a function that opens connections to it. The test's end closes all. */
export async function serveConnections(t: Test, handle: RequestListener, limits?: ConstructorParameters<typeof Connections>[2]) {
  // Node's own time-outs are off: no test here is about them, and a busy machine would meet them.
  const server = createServer({ keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, handle)
  const connections = new Connections(server, () => {}, limits)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const clients = new Set<Socket>()
  t.teardown(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  const open = (localAddress = '127.0.0.1'): Socket => {
    const client = connect({ port, host: '127.0.0.1', localAddress }).setNoDelay()
    clients.add(client.on('error', () => {}))
    return client
  }
  return { server, connections, open }
}

/** Counts what a service makes of its new clients, from now on. */
export function countNewClients({ server, connections: { turns } }: Pick<FastifyInstance, 'server' | 'connections'>) {
  const seen = { accepted: 0, sockets: 0, parsers: 0, requests: 0 }
  const note = turns.connectionAccepted.bind(turns)
  turns.connectionAccepted = () => {
    seen.accepted++
    note()
  }
  server.on('request', () => seen.requests++)
  server.on('connection', (socket: Socket) => {
    seen.sockets++
    if (parserOf(socket)) seen.parsers++
  })
  return seen
}

/** How long a test waits for a condition, in milliseconds: far longer than anything here takes. */
const timeout = 300_000

/** Waits for a turn of the event loop after which the condition holds. @throws Error if it never does */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  // A test may stop the clock of `performance`.
  const deadline = Date.now() + timeout
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`in ${timeout / 1000} seconds it did not happen that ${what}`)
    await new Promise(setImmediate)
  }
}
