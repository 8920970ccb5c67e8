import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { Connections } from '../../http/connections.ts'

/** A server without the application, with its connections, and a function that opens connections to it. The test's end closes all. */
export async function serveConnections(t: Test, handle: RequestListener) {
  const server = createServer(handle)
  const connections = new Connections(server, () => {})
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

/** Waits for a turn of the event loop after which the condition holds. @throws Error if that takes a minute */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`in a minute it did not happen that ${what}`)
    await new Promise(setImmediate)
  }
}
