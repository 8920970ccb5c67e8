/**
 * Messages over the socket between the serving process and a document process. The bytes in a message follow it as they are. They are received
 * in parts, each straight to its place. docs/architecture.md says why Node's own channel is not used.
 */

import type { Readable, Writable } from 'node:stream'
import { Deserializer, Serializer } from 'node:v8'

declare module 'node:v8' {
  interface Serializer {
    /** https://nodejs.org/api/v8.html#serializer_settreatarraybufferviewsashostobjectsflag */
    _setTreatArrayBufferViewsAsHostObjects(flag: boolean): void
  }
}

/** Writes the length of each view of bytes instead of its bytes. */
class HeadSerializer extends Serializer {
  readonly views: Uint8Array[] = []

  constructor() {
    super()
    this._setTreatArrayBufferViewsAsHostObjects(true)
  }

  /** V8 calls it for each view. */
  _writeHostObject(view: ArrayBufferView): void {
    if (!(view instanceof Uint8Array)) throw new TypeError('a message can have bytes, and no other view of a buffer')
    this.writeUint32(view.length)
    this.views.push(view)
  }
}

/** Reads a message whose views of bytes are yet to be filled. */
class HeadDeserializer extends Deserializer {
  readonly views: Buffer[] = []

  /** V8 calls it for each view. */
  _readHostObject(): Buffer {
    const view = Buffer.allocUnsafe(this.readUint32())
    this.views.push(view)
    return view
  }
}

const lengthSize = 4

/** The descriptor of the socket in the document process. */
export const channelDescriptor = 3

/** Sends plain data. The bytes in it, which are Uint8Arrays, must not change afterwards. @throws TypeError */
export function sendMessage(socket: Writable, message: unknown): void {
  const serializer = new HeadSerializer()
  serializer.writeHeader()
  serializer.writeValue(message)
  const head = serializer.releaseBuffer()
  const length = Buffer.alloc(lengthSize)
  length.writeUInt32LE(head.length)
  socket.cork()
  for (const part of [length, head, ...serializer.views]) socket.write(part)
  socket.uncork()
}

/** Yields each buffer that the next bytes fill, and calls `receive` for each message that is whole. */
function* targets<Message>(receive: (message: Message) => void): Generator<Buffer, never, void> {
  for (;;) {
    const length = Buffer.alloc(lengthSize)
    yield length
    const head = Buffer.allocUnsafe(length.readUInt32LE())
    yield head
    const deserializer = new HeadDeserializer(head)
    deserializer.readHeader()
    const message = deserializer.readValue()
    yield* deserializer.views
    receive(message)
  }
}

/** Bytes that Node reads from a socket at once. It reads on as long as there are more, up to 2 MiB in one turn of the event loop. */
const readSize = 64 * 1024

/** Calls `receive` for each message that the other process sends. Between two full reads, others have their turn. */
export function receiveMessages<Message>(socket: Readable, receive: (message: Message) => void): void {
  const buffers = targets(receive)
  let target = buffers.next().value
  let filled = 0
  const take = (chunk: Buffer): number => {
    const count = chunk.copy(target, filled)
    filled += count
    while (filled === target.length) {
      target = buffers.next().value
      filled = 0
    }
    return count
  }
  socket.on('data', (chunk: Buffer) => {
    if (chunk.length >= readSize) {
      socket.pause()
      setImmediate(() => socket.resume())
    }
    for (let rest = chunk; rest.length > 0; ) rest = rest.subarray(take(rest))
  })
}
