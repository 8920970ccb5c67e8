import { type IncomingMessage, ServerResponse } from 'node:http'
import type { PacedBodies } from './paced-bodies.ts'

/**
 * Sends a header section and a body in one piece. Node's own `end` hands the socket one more piece, which is empty, and an answer
 * with a small body then takes a tenth longer.
 */
export class OnePieceResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Sends the body in parts. Absent: it is sent in one piece. */
  pacing: { readonly bodies: PacedBodies; readonly caller: string } | undefined

  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    const { socket, pacing } = this
    // Before the header section is written, `end` sets Content-Length itself, while `write` would choose chunks.
    const isWhole = this.headersSent && !this.chunkedEncoding && !this.writableEnded
    // If the client has gone, everything but a plain `end` reports the response as finished.
    const isOpen = !this.destroyed && !socket?.destroyed
    if (!isWhole || !isOpen || !chunk || typeof chunk === 'function' || typeof encoding === 'function') {
      return super.end(chunk, encoding as BufferEncoding, done as () => void)
    }
    const write = (part: unknown) => this.#writeAtOnce(part, encoding)
    const end = (part: unknown) => {
      write(part)
      super.end(done as () => void)
    }
    if (socket && pacing && Buffer.isBuffer(chunk)) pacing.bodies.send(pacing.caller, chunk, { response: this, socket, write, end })
    else end(chunk)
    return this
  }

  /** A corked socket waits for `uncork`. Otherwise Node would cork it itself, until the next tick. */
  #writeAtOnce(part: unknown, encoding: unknown): void {
    const { socket } = this
    socket?.cork()
    try {
      this.write(part, encoding as BufferEncoding)
    } finally {
      socket?.uncork()
    }
  }
}
