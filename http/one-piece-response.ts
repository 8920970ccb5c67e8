import { type IncomingMessage, ServerResponse } from 'node:http'

/**
 * Sends a header section and a body in one piece. Node's own `end` hands the socket one more piece, which is empty, and an answer
 * with a small body then takes a tenth longer.
 */
export class OnePieceResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    // Without Content-Length, Node would send the body in chunks.
    const isWhole = this.headersSent && !this.chunkedEncoding && !this.writableEnded && !this.destroyed
    if (!isWhole || !chunk || typeof chunk === 'function') return super.end(chunk, encoding as BufferEncoding, done as () => void)
    const { socket } = this
    // A corked socket waits for `uncork`. Otherwise Node would cork it itself, until the next tick.
    socket?.cork()
    this.write(chunk, encoding as BufferEncoding)
    socket?.uncork()
    return super.end(done as () => void)
  }
}
