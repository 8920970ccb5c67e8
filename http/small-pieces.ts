import type { IncomingMessage } from 'node:http'

/** So many pieces of a body may be small before they are gathered. A body that is sent at once has fewer. */
export const freePieces = 16

/** Bytes of the pieces that are gathered. */
export const gatheredSize = 4096

/**
 * Lets the stream of a request hold few pieces of its body, however small those are that the client sends. Each piece that waits for
 * the rest of its body is a Buffer of some 300 bytes: of 500 bodies of 30,000 bytes, sent a byte at a time, they filled a gigabyte.
 * Such a client is not refused, since some write an honest document line by line.
 */
export function gatherSmallPieces(request: IncomingMessage): void {
  const push = request.push.bind(request)
  let pieces = 0
  let gathered: Buffer | undefined
  let used = 0
  /** @returns whether the stream takes more, as `push` does */
  function flush(): boolean {
    const bytes = gathered?.subarray(0, used)
    gathered = undefined
    used = 0
    return bytes ? push(bytes) : true
  }
  request.push = (piece: Buffer | null, encoding) => {
    if (piece !== null && ++pieces <= freePieces) return push(piece, encoding)
    const isLarge = piece === null || piece.length >= gatheredSize
    let takesMore = true
    if (isLarge || used + piece.length > gatheredSize) takesMore = flush()
    if (isLarge) return push(piece, encoding)
    gathered ??= Buffer.allocUnsafeSlow(gatheredSize)
    piece.copy(gathered, used)
    used += piece.length
    return takesMore
  }
}
