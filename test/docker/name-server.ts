import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Test } from 'tap'

export interface NameServer {
  readonly port: number
  /** The addresses of `shop` from now on; none: there is no such name. */
  set(...addresses: string[]): void
}

/** A DNS server (RFC 1035) that knows one name, as Docker's own does: all addresses at once, each time in another order, for 600 s. */
export async function startNameServer(t: Test): Promise<NameServer> {
  let known: string[] = []
  const socket = createSocket('udp4', (query, { port, address }) => socket.send(answer(query, known), port, address))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => new Promise<void>((closed) => socket.close(closed)))
  return {
    port: socket.address().port,
    set(...addresses) {
      known = addresses
    }
  }
}

const header = 12

function answer(query: Buffer, known: string[]): Buffer {
  // The question: a name of labels that ends with an empty one, its type and class.
  let end = header
  while (query[end]) end += (query[end] ?? 0) + 1
  const question = query.subarray(header, end + 5)
  const isKnown = question.subarray(0, 5).toString('latin1').toLowerCase() === '\x04shop' && query[end + 4] === 1
  const isAddress = query[end + 2] === 1
  const first = known.shift()
  if (first !== undefined) known.push(first)
  const records = isKnown && isAddress ? known.map(record) : []
  const head = Buffer.alloc(header)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(isKnown && known.length > 0 ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, question, ...records])
}

function record(address: string): Buffer {
  const bytes = address.split('.').map(Number)
  // The name of the question, type A, class IN, 600 s, four bytes.
  return Buffer.from([0xc0, header, 0, 1, 0, 1, 0, 0, 2, 88, 0, 4, ...bytes])
}
