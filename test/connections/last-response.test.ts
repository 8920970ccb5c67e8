import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { Connections } from '../../http/connections.ts'

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const requestsOfOneRead = 2_500

/** Counts the requests that are parsed of one read with many of them, until the connection closes. */
async function parsedOf(t: Test, handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  let parsed = 0
  const server = createServer(handle)
  new Connections(server, () => {})
  // The first listener of a server's requests is called for each request that is parsed.
  server.prependListener('request', () => parsed++)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const connected = once(server, 'connection')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => client.destroy())
  client.on('error', () => {}).resume()
  const [socket] = await connected
  client.end(get.repeat(requestsOfOneRead))
  await once(socket, 'close')
  return parsed
}

for (const [name, handle] of [
  ['the last response is sent', (_: IncomingMessage, response: ServerResponse) => response.setHeader('connection', 'close').end()],
  ['the connection is reset', ({ socket }: IncomingMessage) => socket.resetAndDestroy()],
  ['the connection is destroyed', ({ socket }: IncomingMessage) => socket.destroy()]
] as const) {
  t.test(`once ${name}, no further request is parsed`, async (t) => {
    t.ok((await parsedOf(t, handle)) <= 2)
  })
  t.test(`once ${name} for a request that waited, no further request is parsed`, async (t) => {
    let handled = 0
    const parsed = await parsedOf(t, (request, response) => {
      handled++
      if (handled < 3) setImmediate(() => response.end())
      else handle(request, response)
    })
    t.ok(parsed <= 4, `${parsed} are parsed`)
  })
}
