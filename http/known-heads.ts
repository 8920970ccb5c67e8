import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { CacheableRequest } from './cacheable-request.ts'

/** Longer requests are left to the parser. Bytes. */
const maxLength = 2_048
/** The approximate memory of all entries together, in bytes. */
const maxSize = 4 * 1024 * 1024
/** The approximate memory of an entry without its key, in bytes. */
const overhead = 768

const endOfRequestLine = ' HTTP/1.1\r\n'

/** The sender of a request. */
export interface Client {
  /** As `CacheableRequest` has it. */
  readonly client: string
  readonly userAgent: string | undefined
  /** The address, as Fastify finds it out from the fields of trusted proxies. */
  readonly ip: string
  /** As `request.network`. */
  readonly network: string
}

/** The parts of a request beside its target. They are the same for all requests with this header section from this address. */
interface KnownFields {
  /** As `CacheableRequest` has it. */
  readonly variant: string
  readonly sender: Client
}

/**
 * The header sections of cacheable requests, as bytes and as what the parser made of them. A client sends the same ones again
 * and again, and such a request needs no parser. Requests with a section that was evicted are parsed again.
 */
export class KnownHeads {
  /** By the address and all bytes after the target. */
  readonly #fields = new LRUCache<string, KnownFields>({ maxSize, sizeCalculation: (_fields, key) => key.length + overhead })

  /**
   * Remembers a request. The header section is written anew from its fields, so it means what the parser has found. A section with an
   * id from a trusted proxy is left out, because it never comes again.
   */
  remember({ rawHeaders, socket }: IncomingMessage, { variant, requestId }: CacheableRequest, sender: Client): void {
    if (requestId !== undefined) return
    let key = `${socket.remoteAddress}${endOfRequestLine}`
    for (let i = 0; i < rawHeaders.length; i += 2) key += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
    key += '\r\n'
    if (key.length <= maxLength && !this.#fields.has(key)) this.#fields.set(key, { variant, sender })
  }

  /**
   * Reads what a connection has sent.
   * @returns undefined unless the bytes end with a known header section. If the bytes before the section are not a request target,
   *   no cacheable request has the key
   */
  read(address: string | undefined, bytes: Buffer): { readonly key: string; readonly sender: Client } | undefined {
    if (bytes.length > maxLength) return undefined
    const text = bytes.toString('latin1')
    const end = text.indexOf(endOfRequestLine)
    const fields = this.#fields.get(address + text.slice(end))
    return fields && { key: text.slice(0, end) + fields.variant, sender: fields.sender }
  }
}
