import type { Socket } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { message } from '../http/wire.ts'
import { short, startHostile } from './shop.ts'

const look = message('GET /product/ABC-1')

/** Sends the same for as long as the other side takes it. */
function pour(socket: Socket, text: string): void {
  const bytes = Buffer.from(text, 'latin1')
  const write = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', write)
  write()
}

t.test('bodies that come a byte at a time fill no memory', async (t) => {
  // They take about 150 MiB, and about 300 if each byte is kept as a Buffer of its own.
  const shop = await startHostile(t, {}, { mostMemory: 220 })
  const bytes = 4_500
  await shop.survives(t, async () => {
    const senders = await Promise.all(Array.from({ length: 500 }, () => shop.open()))
    for (const socket of senders) {
      socket.setNoDelay()
      socket.write(message('POST /order', { 'content-type': 'application/xml', 'content-length': '30000' }))
    }
    for (let sent = 0; sent < bytes; sent++) {
      for (const socket of senders) socket.write('<')
      await turnOfTheLoop()
    }
    shop.leave()
    await shop.recovers(t)
  })
})

t.test('connections that were idle send at once', async (t) => {
  const shop = await startHostile(t, { KEEP_ALIVE_TIMEOUT: '60' })
  const chunked = message('POST /order', { 'content-type': 'application/xml', 'transfer-encoding': 'chunked' })
  const volleys: Readonly<Record<string, string>> = {
    'a body in chunks of a byte': chunked + '1\r\n \r\n'.repeat(10_000),
    'the largest chunked body without faults': `${chunked}${`40\r\n${' '.repeat(64)}\r\n`.repeat(800)}0\r\n\r\n`,
    'a request each': look
  }
  for (const [i, [name, bytes]] of Object.entries(volleys).entries()) {
    await t.test(`on 400 connections: ${name}`, async (t) => {
      await shop.survives(t, async () => {
        for (let volley = 0; volley < 3; volley++) {
          const sockets = await Promise.all(Array.from({ length: 400 }, () => shop.open(`127.0.7.${1 + i}`)))
          const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
          for (const socket of sockets) {
            socket.resume()
            // The connection stays open until the shop has read everything and has sent its last answer.
            socket.end(bytes)
          }
          await Promise.all(closed)
        }
        await shop.recovers(t)
      })
    })
  }
})

t.test('the memory that Node takes for 64 KiB at once is bounded', async (t) => {
  const shop = await startHostile(t, short)
  const crowds: Readonly<Record<string, readonly [start: string, again: string]>> = {
    'the smallest requests, thousands in each read': ['', 'GET / HTTP/1.1\r\n\r\n'.repeat(3_600)],
    'the smallest requests that are well-formed': ['', 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2_400)],
    'a body in chunks of a byte': [
      message('POST /order', { 'content-type': 'application/xml', 'transfer-encoding': 'chunked' }),
      '1\r\n \r\n'.repeat(10_000)
    ]
  }
  for (const [i, [name, [start, again]]] of Object.entries(crowds).entries()) {
    await t.test(`a hundred connections send without end: ${name}`, async (t) => {
      await shop.survives(t, async () => {
        const sockets = await Promise.all(Array.from({ length: 100 }, () => shop.open(`127.0.6.${1 + i}`)))
        for (const socket of sockets) {
          socket.resume()
          socket.write(start, 'latin1')
          pour(socket, again)
        }
        for (let looks = 0; looks < 10; looks++) await shop.send({ path: '/product/ABC-1' }, `127.0.6.${101 + i}`)
        shop.leave()
        await shop.recovers(t)
      })
    })
  }
})
