import type { IncomingMessage } from 'node:http'
import { isRead } from './methods.ts'
import { makeProxyCheck } from './proxies.ts'

/** A request that a stored response can answer. Only its target and variant have an effect on the response. */
export interface CacheableRequest {
  /** The method and the URL, as in the request line. */
  readonly target: string
  /** The parts of the header section that have an effect on the response. Requests with equal targets and variants are equal. */
  readonly variant: string
  /** The sender: the address of the connection, and the addresses that proxies name. */
  readonly client: string
  /** The X-Request-Id of a trusted proxy. */
  readonly requestId: string | undefined
  readonly userAgent: string | undefined
  /** By `performance.now()`. */
  readonly receivedAt: number
}

/**
 * Header fields by their meaning for a cache. `ignored` fields change nothing in the response to a GET of the catalogue. A
 * request with any other field, such as Authorization, Cookie, Range or Expect, is not cacheable.
 */
const meanings = {
  host: 'host',
  accept: 'accept',
  'if-none-match': 'ifNoneMatch',
  connection: 'connection',
  'user-agent': 'userAgent',
  'x-request-id': 'requestId',
  'x-forwarded-for': 'forwardedFor',
  'x-forwarded-host': 'forwardedHost',
  'x-forwarded-proto': 'ignored',
  'accept-encoding': 'ignored',
  'accept-language': 'ignored',
  'cache-control': 'ignored',
  pragma: 'ignored',
  dnt: 'ignored',
  priority: 'ignored',
  referer: 'ignored',
  'sec-ch-ua': 'ignored',
  'sec-ch-ua-mobile': 'ignored',
  'sec-ch-ua-platform': 'ignored',
  'sec-fetch-dest': 'ignored',
  'sec-fetch-mode': 'ignored',
  'sec-fetch-site': 'ignored',
  'sec-fetch-user': 'ignored',
  'upgrade-insecure-requests': 'ignored'
} as const

type Meaning = (typeof meanings)[keyof typeof meanings]
type Fields = { [field in Exclude<Meaning, 'ignored'>]?: string }

const capitalized = (name: string) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())

/** By the names as clients write them. Other spellings are not cacheable, which costs only time. */
const meaningOf = new Map<string, Meaning>(
  Object.entries(meanings).flatMap(([name, meaning]) => [
    [name, meaning],
    [capitalized(name), meaning]
  ])
)

/** In characters. Requests with longer values are not cacheable, so that a client cannot fill the memory with them. */
const maxLength = { key: 1_024, userAgent: 512, forwardedFor: 256 } as const

/** @returns undefined if a field is unknown or occurs twice */
function readFields(rawHeaders: readonly string[]): Fields | undefined {
  const fields: Fields = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const meaning = meaningOf.get(rawHeaders[i] ?? '')
    if (meaning === undefined) return undefined
    if (meaning === 'ignored') continue
    if (fields[meaning] !== undefined) return undefined
    fields[meaning] = rawHeaders[i + 1] ?? ''
  }
  return fields
}

/** Makes the function that reads a request. It returns undefined if the request is not cacheable. */
export function makeRequestReader({ TRUST_PROXY, MAX_HEADERS }: { readonly TRUST_PROXY: readonly string[]; readonly MAX_HEADERS: number }) {
  const isProxy = makeProxyCheck(TRUST_PROXY)

  return (request: IncomingMessage): CacheableRequest | undefined => {
    const { method, url = '', rawHeaders, socket } = request
    if (!isRead(method) || request.httpVersionMinor !== 1 || request.httpVersionMajor !== 1) return undefined
    if (rawHeaders.length > 2 * MAX_HEADERS) return undefined
    const fields = readFields(rawHeaders)
    if (fields?.host === undefined || socket.remoteAddress === undefined) return undefined
    const { connection, host, accept = '*/*', ifNoneMatch = '', forwardedFor = '', forwardedHost = '', userAgent } = fields
    if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined
    const isTrusted = isProxy(socket.remoteAddress)
    const target = `${method} ${url}`
    const variant = `\n${host}\n${isTrusted}${forwardedHost}\n${accept}\n${ifNoneMatch}`
    if (userAgent !== undefined && userAgent.length > maxLength.userAgent) return undefined
    // A client could send a new list of tags each time, and the response to each would be stored.
    const hasList = ifNoneMatch.includes(',')
    if (hasList || target.length + variant.length > maxLength.key || forwardedFor.length > maxLength.forwardedFor) return undefined
    return {
      target,
      variant,
      client: `${socket.remoteAddress} ${forwardedFor}`,
      requestId: isTrusted ? fields.requestId : undefined,
      userAgent,
      receivedAt: performance.now()
    }
  }
}
