import { type IncomingMessage, ServerResponse } from 'node:http'

/**
 * Sends a header section and a body in one piece. Node's own `end` hands the socket one more piece, which is empty, and an answer
 * with a small body then takes a tenth longer.
 */
export class OnePieceResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    const { socket } = this
    // Before the header section is written, `end` sets Content-Length itself, while `write` would choose chunks.
    const isWhole = this.headersSent && !this.chunkedEncoding && !this.writableEnded
    // If the client has gone, everything but a plain `end` reports the response as finished.
    const isOpen = !this.destroyed && !socket?.destroyed
    if (!isWhole || !isOpen || !chunk || typeof chunk === 'function' || typeof encoding === 'function') {
      return super.end(chunk, encoding as BufferEncoding, done as () => void)
    }
    // A corked socket waits for `uncork`. Otherwise Node would cork it itself, until the next tick.
    socket?.cork()
    try {
      this.write(chunk, encoding as BufferEncoding)
    } finally {
      socket?.uncork()
    }
    return super.end(done as () => void)
  }
}
