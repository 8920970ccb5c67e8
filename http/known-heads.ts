import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'

/** Longer heads are left to the parser. Bytes. */
const maxHead = 2_048
/** The length of all known header sections together, in characters. */
const maxKnown = 4 * 1024 * 1024
/** The approximate size of an entry without its key. */
const overhead = 256

const version = ' HTTP/1.1\r\n'

/** Who sends a request. */
export interface Sender {
  /** As `CacheableRequest` has it. */
  readonly client: string
  readonly userAgent: string | undefined
  /** The address, as Fastify finds it out from the fields of trusted proxies. */
  readonly ip: string
  /** As `request.network`. */
  readonly network: string
}

/** What a request has beside its target: it is the same for all requests with this header section from this address. */
interface KnownFields {
  /** As `CacheableRequest` has it. */
  readonly variant: string
  readonly sender: Sender
}

/**
 * The header sections of cacheable requests, as bytes and as what the parser made of them. A client sends the same ones again
 * and again, and such a request needs no parser.
 */
export class KnownHeads {
  readonly #fields = new LRUCache<string, KnownFields>({
    maxSize: maxKnown,
    sizeCalculation: (_fields, section) => section.length + overhead
  })

  /** Remembers a request. The header section is written anew from its fields, so it means what the parser has found. */
  remember({ rawHeaders, socket }: IncomingMessage, variant: string, sender: Sender): void {
    let section = `${socket.remoteAddress}${version}`
    for (let i = 0; i < rawHeaders.length; i += 2) section += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
    section += '\r\n'
    if (section.length <= maxHead && !this.#fields.has(section)) this.#fields.set(section, { variant, sender })
  }

  /**
   * Reads bytes that begin with a request.
   * @returns undefined unless they are one request with a known header section. If its target is not that of a request that
   * the parser has read, it may be malformed
   */
  read(address: string | undefined, bytes: Buffer): { readonly target: string; readonly fields: KnownFields } | undefined {
    if (bytes.length > maxHead) return undefined
    const head = bytes.toString('latin1')
    const end = head.indexOf(version)
    const fields = this.#fields.get(address + head.slice(end))
    return fields && { target: head.slice(0, end), fields }
  }
}
