import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { guest } from '../domain/caller.ts'
import { networkOf } from '../fairness/networks.ts'
import { token } from './accept.ts'
import { bytesReadFrom, connectionOf, stopReading } from './connection.ts'
import { notationOf } from './notation.ts'
import { connectCode, freeChunks, minAverageSize, tooManyChunks } from './parsing-limits.ts'
import { retryAfter, uriTooLong } from './problem.ts'
import type { ProblemCode } from './problem-codes.ts'
import { problemDocument } from './problem-content.ts'
import { problemRepresentation } from './problem-representation.ts'
import { problemTypes } from './problem-types.ts'
import { makeProxyCheck } from './proxies.ts'
import { commonHeaders, pageHeaders } from './security-headers.ts'

const refused = new WeakSet<Socket>()

/** The refusal of a request that Node's parser could not read to its end, for the request's log line. */
interface ParserRefusal {
  readonly status: number
  readonly code: ProblemCode
  readonly detail: string
}

type Reason = Pick<ParserRefusal, 'code' | 'detail'>

const refusals = new WeakMap<IncomingMessage, ParserRefusal>()

/** @returns undefined if the application answers the request itself, or nobody does */
export function parserRefusal(request: IncomingMessage): ParserRefusal | undefined {
  return refusals.get(request)
}

/** Milliseconds that a refused client has to read its response before the socket is destroyed. */
const closeDelay = 2_000

/** A syntactically valid request line, which may have a method or version that Node's parser does not know. */
const requestLine = new RegExp(`^${token} \\S+ HTTP/\\d\\.\\d\\r\\n`)

function isFirstPacket(socket: Socket, packet: string): boolean {
  const connection = connectionOf(socket)
  return connection !== undefined && bytesReadFrom(connection) === packet.length
}

function packetOf({ rawPacket }: ConnectionError): string {
  return Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : ''
}

/** Whether the connection begins with a HEAD, and this is its packet. Then the response has no content (RFC 9110 section 9.3.2). */
function isHead(error: ConnectionError, socket: Socket): boolean {
  const packet = packetOf(error)
  return packet.startsWith('HEAD ') && isFirstPacket(socket, packet)
}

function codeOf(error: ConnectionError, socket: Socket, maxUrl: number): ProblemCode {
  const { code, bytesParsed } = error
  const packet = packetOf(error)
  const isRequestLine = () => requestLine.test(packet.slice(packet.lastIndexOf('\n', bytesParsed - 1) + 1))
  switch (code) {
    case connectCode:
      return 'not-implemented'
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request-timeout'
    case 'HPE_PAUSED_H2_UPGRADE':
      return 'version-not-supported'
    case 'HPE_INVALID_VERSION':
      return isRequestLine() ? 'version-not-supported' : 'malformed-request'
    case 'HPE_INVALID_METHOD':
      return isRequestLine() ? 'not-implemented' : 'malformed-request'
    case 'HPE_HEADER_OVERFLOW':
      // Only in a connection's first packet is it certain that the overflow was in the request line.
      return isFirstPacket(socket, packet) && (packet.split('\n', 1)[0] ?? '').length > maxUrl ? 'uri-too-long' : 'headers-too-large'
    default:
      return 'malformed-request'
  }
}

const badRequestLine = 'The request line does not end with HTTP/1.1, a carriage return and a line feed.'

/** The details of malformed requests, by the codes of Node's parser (llhttp). */
const parserDetails: Readonly<Record<string, string>> = {
  [tooManyChunks]: `The body has too many chunks: above ${freeChunks} they must have ${minAverageSize} bytes on average. Nothing was stored.`,
  HPE_INVALID_URL: 'The request target has a character that must be percent-encoded, or it is not a path.',
  HPE_INVALID_VERSION: badRequestLine,
  HPE_INVALID_CONSTANT: badRequestLine,
  HPE_INVALID_HEADER_TOKEN:
    'A header field is malformed: a character that is not allowed, white space before the colon, or a value that goes on in the next line.',
  HPE_INVALID_CONTENT_LENGTH: 'The Content-Length is not one whole number, or stands beside a Transfer-Encoding.',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'The Content-Length occurs twice, or beside a Transfer-Encoding.',
  HPE_INVALID_TRANSFER_ENCODING: 'Transfer-Encoding must be chunked, and cannot be combined with Content-Length.',
  HPE_INVALID_CHUNK_SIZE: 'A chunk of the body has no valid size.',
  HPE_INVALID_EOF_STATE: 'The connection was closed before the whole request had arrived.'
}

const unreadable = 'The request cannot be read as HTTP/1.1: its request line, a header field or a chunk is malformed.'

function detailOf({ code = '' }: ConnectionError, problem: ProblemCode, maxUrl: number): string {
  if (problem === 'uri-too-long') return uriTooLong(maxUrl).message
  if (problem !== 'malformed-request') return problemTypes[problem].explanation
  return parserDetails[code] ?? unreadable
}

function reasonOf(error: ConnectionError, socket: Socket, maxUrl: number): Reason {
  const code = codeOf(error, socket, maxUrl)
  return { code, detail: detailOf(error, code, maxUrl) }
}

/** A refused request, as far as it could be read. */
type RefusedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

function responseText({ status, code, detail }: ParserRefusal, id: string, request: RefusedRequest | undefined, base: string): string {
  const { method = '', url = `${base}/`, headers = {} } = request ?? {}
  const representation = problemRepresentation(headers.accept, notationOf({ method, headers }), true)
  const body = representation.write(problemDocument({ code, detail }, url, base), {
    base,
    currency: '',
    shop: '',
    caller: guest,
    self: url
  })
  const fields = {
    'Content-Type': representation.contentType,
    'Content-Length': Buffer.byteLength(body),
    ...(request ? { Vary: 'Accept' } : {}),
    ...(status === 503 ? { 'Retry-After': retryAfter['retry-after'] } : {}),
    'Cache-Control': 'no-store',
    'X-Request-Id': id,
    ...commonHeaders,
    ...(representation.suffix === 'html' ? pageHeaders : {}),
    Date: new Date().toUTCString(),
    Connection: 'close'
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${method === 'HEAD' ? '' : body}`
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', resolve))
}

/**
 * @param reason undefined if the client gets no answer, except to its earlier requests
 * @param isHead the request whose header section is incomplete is a HEAD
 */
async function refuse(socket: Socket, reason: Reason | undefined, base: string, app: FastifyInstance, isHead = false): Promise<void> {
  refused.add(socket)
  // The client may repeat the refused request. If the rest of this one were processed too, it would be carried out twice.
  stopReading(socket)
  const { pendingResponses = new Set<ServerResponse>(), lastRequest, sending } = connectionOf(socket) ?? {}
  const incomplete = [...pendingResponses].find(({ req }) => !req.complete)
  // This is read now, because it can change while earlier responses are awaited below.
  const wasAnswered = incomplete === undefined && lastRequest?.complete === false
  // Responses to pipelined requests must stay in order, or the client would assign them to the wrong requests.
  const earlier = [...pendingResponses].filter((response) => response !== incomplete)
  // If there are no earlier responses, the refusal is sent at once, before the application answers.
  if (sending || earlier.length > 0) await Promise.all([sending, ...earlier.map(closed)])
  if (!reason || wasAnswered || incomplete?.headersSent || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = { status: problemTypes[reason.code].status, ...reason }
  const knownId = incomplete && app.requestIdOf(incomplete)
  const id = knownId ?? app.newRequestId()
  if (incomplete && knownId !== undefined) refusals.set(incomplete.req, refusal)
  else logRefusal(refusal, id, socket, app)
  socket.end(responseText(refusal, id, incomplete?.req ?? (isHead ? { method: 'HEAD', headers: {} } : undefined), base))
  setTimeout(() => socket.destroy(), closeDelay).unref()
}

/** A request that the application has not seen has no log line of its own. */
function logRefusal({ status, code, detail }: ParserRefusal, reqId: string, socket: Socket, { log }: FastifyInstance): void {
  log.info({ reqId, remoteAddress: socket.remoteAddress, res: { statusCode: status }, code, detail }, 'request refused')
}

/**
 * Counts a refused request, unless the application has counted it. A request from a proxy is not counted: only its
 * header section could tell who sent it.
 * @returns whether its sender is over the rate limit
 */
function isOverRate(app: FastifyInstance, socket: Socket, isProxy: (address: string) => boolean): boolean {
  const { remoteAddress = '' } = socket
  if (isProxy(remoteAddress) || !app.hasDecorator('countOutside')) return false
  const { lastRequest } = connectionOf(socket) ?? {}
  // The application has counted it for its sender, who may have a key. It has not if the request waits for an earlier response.
  const wasOver = lastRequest?.complete === false ? app.wasOverRate(lastRequest) : undefined
  return wasOver ?? app.countOutside(networkOf(remoteAddress), 1) === undefined
}

/** Answers requests that Node's HTTP parser refuses: malformed, too slow, or with a broken body (RFC 9112). */
export function answerClientError({ BASE_URL, MAX_URL_LENGTH, TRUST_PROXY }: Config) {
  const isProxy = makeProxyCheck(TRUST_PROXY)
  return function (this: FastifyInstance, error: ConnectionError, socket: Socket): void {
    if (refused.has(socket)) return
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
      socket.destroy()
      return
    }
    const reason = isOverRate(this, socket, isProxy) ? undefined : reasonOf(error, socket, MAX_URL_LENGTH)
    void refuse(socket, reason, BASE_URL.path, this, isHead(error, socket))
  }
}

/** Answers a client that has sent only a part of a request when the service stops. */
export function refuseUnfinished(socket: Socket, { BASE_URL }: Config, app: FastifyInstance): void {
  void refuse(socket, { code: 'stopping', detail: problemTypes.stopping.explanation }, BASE_URL.path, app)
}
