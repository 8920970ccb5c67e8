import type { Socket } from 'node:net'

/** Node's parser of a connection. Its callback after each read has a number as its name. */
interface Parser extends Record<string, unknown> {
  execute(bytes: Buffer): Result
  resume(): void
  /** Returns a copy of the bytes of the latest read. */
  getCurrentBuffer(): Buffer
}

/** The number of parsed bytes, or an error: also when the parser pauses. */
type Result = number | (Error & { readonly code: string; readonly bytesParsed: number })

type AfterRead = (result: Result) => void

const nothing = Buffer.alloc(0)

export interface UnparsedEvents {
  /** More bytes are kept than before, or fewer. */
  changed(difference: number): void
  /** Bytes that were kept are malformed. */
  failed(error: Error): void
}

/**
 * Keeps what was read from a connection and is not parsed yet. Node parses all 64 KiB that it reads at once. They hold
 * thousands of requests, and when hundreds of connections send so much, others wait for the garbage collector.
 */
export class UnparsedBytes {
  readonly #parser: Parser | undefined
  readonly #afterRead: AfterRead = () => undefined
  readonly #events: UnparsedEvents
  #bytes: Buffer | undefined

  constructor(socket: Socket, events: UnparsedEvents) {
    this.#events = events
    const { parser } = socket as Socket & { readonly parser?: Parser | null }
    const name = Object.keys(parser ?? {}).find((key) => (parser?.[key] as AfterRead | null)?.name === 'bound onParserExecute')
    if (!parser || name === undefined) return
    const afterRead = parser[name] as AfterRead
    this.#parser = parser
    this.#afterRead = afterRead
    parser[name] = (result: Result) => afterRead(this.#keepRest(parser, result, () => parser.getCurrentBuffer()))
  }

  /** Whether a pause of the parser ends again. The name of Node's callback is not documented, and another version may not have it. */
  get canResume(): boolean {
    return this.#parser !== undefined
  }

  /** Parses what is kept until the parser pauses again. */
  parse(): void {
    const bytes = this.#bytes
    if (!bytes || !this.#parser) return
    this.discard()
    const result = this.#keepRest(this.#parser, this.#parser.execute(bytes), () => bytes)
    if (typeof result === 'number') this.#afterRead(result)
    else this.#events.failed(Object.assign(result, { rawPacket: bytes }))
  }

  discard(): void {
    const { length = 0 } = this.#bytes ?? {}
    this.#bytes = undefined
    if (length > 0) this.#events.changed(-length)
  }

  #keepRest(parser: Parser, result: Result, bytesOf: () => Buffer): Result {
    if (typeof result === 'number' || result.code !== 'HPE_PAUSED') return result
    const rest = bytesOf().subarray(result.bytesParsed)
    parser.resume()
    // A request without a body is complete now.
    parser.execute(nothing)
    if (rest.length > 0) {
      this.#bytes = rest
      this.#events.changed(rest.length)
    }
    return result.bytesParsed
  }
}
