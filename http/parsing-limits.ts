import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { bodyLength, hasBody } from './body.ts'
import { type ParserError, parserOf } from './parser.ts'
import { gatherSmallPieces } from './small-pieces.ts'

/** The questions that the parser asks about its connection, and the events that it reports. */
interface ParsingLimits {
  /**
   * Whether a further request is accepted. It is not if its response could not be sent, if what arrives is discarded, or if the
   * client has pipelined as many as it may.
   */
  acceptsMore(): boolean
  /** Called for the first request that is not accepted. Nothing more is parsed. */
  cut(): void
  /** Whether the parser pauses after the head of this request. */
  pausesAfter(request: IncomingMessage): boolean
  /** The method is CONNECT, or a body has too many chunks. This ends the parsing. */
  refuse(error: ParserError): void
}

/** Node's types lack this property. */
interface OfferingRequest extends IncomingMessage {
  upgrade?: boolean
}

/** llhttp's HPE_PAUSED. */
const pause = 21

/** The code of the error for a body with too many chunks. It is used like the codes of Node's parser (llhttp). */
export const tooManyChunks = 'HPE_TOO_MANY_CHUNKS'

/** The code of the error for CONNECT (RFC 9110 section 9.3.6). */
export const connectCode = 'ERR_CONNECT'

/** The chunks of a body may have any size up to this many. With more of them, a chunk must have `minAverageSize` bytes on average. */
export const freeChunks = 200
export const minAverageSize = 64

/**
 * Limits what Node makes of the bytes that it reads at once. 64 KiB hold 3,600 requests or 10,900 chunks of a body, and each
 * becomes an object that takes a hundred times its bytes. The connection ends after the queued requests; the client repeats
 * the rest (RFC 9112 section 9.3.2).
 */
export function limitParsing(socket: Socket, { acceptsMore, cut, pausesAfter, refuse }: ParsingLimits): void {
  const parser = parserOf(socket)
  if (!parser) return
  const { onIncoming } = parser
  parser.onIncoming = (request, keepAlive) => {
    if (!acceptsMore()) {
      keepConnection(request)
      cut()
      return 2
    }
    if (request.method === 'CONNECT') {
      keepConnection(request)
      refuse(Object.assign(new Error('CONNECT is not implemented'), { code: connectCode }))
      return 2
    }
    if (hasBody(request)) gatherSmallPieces(request)
    if (bodyLength(request) === undefined) limitChunks(request, refuse)
    // After a request that offers a protocol, the parser stops by itself. If it were paused, it would never report the end of that request.
    const { upgrade: offersProtocol } = request as OfferingRequest
    const result = onIncoming(request, keepAlive)
    return result === 0 && !offersProtocol && pausesAfter(request) ? pause : result
  }
}

/** Prevents Node from handing the connection over. Node would remove its listeners, and earlier responses would never be complete. */
function keepConnection(request: IncomingMessage): void {
  ;(request as OfferingRequest).upgrade = false
}

/** Node's parser pushes each chunk to the request's stream. Counting them there also counts those that nobody reads yet. */
function limitChunks(request: IncomingMessage, refuse: ParsingLimits['refuse']): void {
  const push = request.push.bind(request)
  let chunks = 0
  let bytes = 0
  let isRefused = false
  request.push = (chunk: Buffer | null, encoding) => {
    if (isRefused || chunk === null) return !isRefused && push(chunk, encoding)
    chunks++
    bytes += chunk.length
    isRefused = chunks > freeChunks && bytes < chunks * minAverageSize
    if (!isRefused) return push(chunk, encoding)
    refuse(Object.assign(new Error('the body has too many chunks'), { code: tooManyChunks }))
    return false
  }
}
