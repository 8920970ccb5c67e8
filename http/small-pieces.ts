import type { IncomingMessage } from 'node:http'

/** The number of small pieces of a body that are passed on before the others are gathered. */
export const freePieces = 16

/** Pieces of fewer bytes are small. They are gathered into pieces of up to this many bytes. */
export const gatheredSize = 4096

/**
 * Lets the stream of a request hold few pieces of its body, even if the client sends very small ones. Each piece that waits for the
 * rest of its body is a Buffer of some 300 bytes: those of 500 bodies of 30,000 bytes, sent a byte at a time, filled a gigabyte.
 * Such a client is not refused, because some write an honest document line by line.
 */
export function gatherSmallPieces(request: IncomingMessage): void {
  const push = request.push.bind(request)
  let smallPieces = 0
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
    const isGathered = piece !== null && piece.length < gatheredSize && ++smallPieces > freePieces
    if (!isGathered) {
      flush()
      return push(piece, encoding)
    }
    const takesMore = used + piece.length <= gatheredSize || flush()
    gathered ??= Buffer.allocUnsafeSlow(gatheredSize)
    piece.copy(gathered, used)
    used += piece.length
    return takesMore
  }
}
