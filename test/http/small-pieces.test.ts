import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { freePieces, gatheredSize, gatherSmallPieces } from '../../http/small-pieces.ts'
import { build, orderXml } from '../build.ts'
import { listening, message, Wire } from './wire.ts'

function body(): { readonly request: IncomingMessage; readonly pieces: Buffer[] } {
  const request = new IncomingMessage(new Socket())
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  gatherSmallPieces(request)
  return { request, pieces }
}

/** Pieces of random bytes. */
const piecesOf = (sizes: readonly number[]) => sizes.map((size) => Buffer.from(Array.from({ length: size }, () => Math.random() * 256)))

t.test('small pieces of a body are gathered, and every byte stays in its place', async (t) => {
  const large = gatheredSize * 2
  const bodies: Readonly<Record<string, readonly number[]>> = {
    nothing: [],
    'a byte': [1],
    'as many small pieces as are free': Array(freePieces).fill(1),
    'one more': Array(freePieces + 1).fill(1),
    'many bytes': Array(3 * gatheredSize).fill(1),
    'pieces that do not fill the room': Array(100).fill(gatheredSize - 1),
    'pieces as large as the room': Array(100).fill(gatheredSize),
    'large pieces between small ones': Array.from({ length: 1000 }, (_, i) => (i % 10 === 0 ? large : 1 + (i % 50)))
  }
  for (const [name, sizes] of Object.entries(bodies)) {
    const { request, pieces } = body()
    const sent = piecesOf(sizes)
    for (const piece of sent) request.push(piece)
    request.push(null)
    await turnOfTheLoop()
    const whole = Buffer.concat(sent)
    t.ok(Buffer.concat(pieces).equals(whole), name)
    t.ok(request.readableEnded, `${name}: it ends`)
    const largeOnes = sizes.filter((size) => size >= gatheredSize / 2).length
    t.ok(pieces.length <= freePieces + 2 * largeOnes + Math.ceil((2 * whole.length) / gatheredSize), `${name}: ${pieces.length} pieces`)
  }
})

t.test('the sender of a body that nobody reads is held up, also if it sends small pieces', async (t) => {
  const request = new IncomingMessage(new Socket())
  gatherSmallPieces(request)
  const mark = request.readableHighWaterMark
  let taken = 0
  while (request.push(Buffer.alloc(1))) taken++
  t.ok(taken < mark + gatheredSize + freePieces, `${taken} bytes`)
})

t.test('an order that arrives a byte at a time is placed, and few pieces of it are held', async (t) => {
  const { app } = await build(t)
  await listening(app)
  let pieces = 0
  // A listener would let the body flow before the service, which may be busy, reads it.
  app.server.on('request', (request: IncomingMessage) => {
    const emit = request.emit.bind(request)
    request.emit = (event: string | symbol, ...given: unknown[]) => {
      if (event === 'data') pieces++
      return emit(event, ...given)
    }
  })
  const order = orderXml()
  const wire = await Wire.open(t, app)
  wire.send(message('POST /order', { 'content-type': 'application/xml', 'content-length': String(order.length) }))
  for (const byte of order) {
    wire.send(byte)
    await turnOfTheLoop()
  }
  t.equal((await wire.answer()).status, 201)
  t.ok(pieces <= freePieces + 1, `${pieces} pieces of ${order.length} bytes`)
})
