import type { Socket } from 'node:net'
import { callbackKey, type Parser, type ParserResult, parserOf } from './parser.ts'

type AfterRead = (result: ParserResult) => void

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
    const parser = parserOf(socket)
    const key = parser && callbackKey(parser, 'bound onParserExecute')
    if (!parser || key === undefined) return
    const afterRead = parser[key] as AfterRead
    this.#parser = parser
    this.#afterRead = afterRead
    parser[key] = (result: ParserResult) => afterRead(this.#keepRest(parser, result, () => parser.getCurrentBuffer()))
  }

  /** Whether a pause of the parser ends again. A version of Node may not have the callback that this needs. */
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

  #keepRest(parser: Parser, result: ParserResult, bytesOf: () => Buffer): ParserResult {
    if (typeof result === 'number' || result.code !== 'HPE_PAUSED') return result
    const rest = bytesOf().subarray(result.bytesParsed)
    parser.resume()
    // A request without a body is complete now.
    parser.execute(nothing)
    if (rest.length > 0) {
      // A view keeps the whole of its buffer in memory, and only the bytes of the view are counted.
      this.#bytes = rest.length * 2 < rest.buffer.byteLength ? Buffer.from(rest) : rest
      this.#events.changed(rest.length)
    }
    return result.bytesParsed
  }
}
