import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from './http/wire.ts'

/** What clients have sent when they reset. */
const requests = {
  CONNECT: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  Upgrade: message('GET /products', { connection: 'upgrade', upgrade: 'websocket' }),
  GET: message('GET /product/ABC-1'),
  'a part of a body': message('POST /order', { 'content-type': 'application/xml', 'content-length': '100' }),
  'a second, pipelined request': message('GET /product/ABC-1').repeat(3),
  'what waits for 100 (Continue)': message('POST /order', {
    expect: '100-continue',
    'content-type': 'application/xml',
    'content-length': '9'
  }),
  garbage: 'garbage\r\n\r\n'
}

/** Sends bytes and resets the connection. @param after milliseconds between the two; undefined: none */
async function reset(port: number, bytes: string, after?: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.write(bytes)
  if (after !== undefined) await pause(after)
  socket.resetAndDestroy()
  await closed
}

/** Clients that reset at every moment of every kind of request, so many at a time. @param done is told what was reset */
export async function resetClients(port: number, together: number, done: (what: string) => Promise<void>): Promise<void> {
  for (const [name, bytes] of Object.entries(requests)) {
    for (const after of [undefined, 0, 5]) {
      await Promise.all(Array.from({ length: together }, () => reset(port, bytes, after)))
      await done(name)
    }
  }
}
