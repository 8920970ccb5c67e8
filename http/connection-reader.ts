import type { Socket } from 'node:net'
import { callbackKey, type Parser, type ParserResult, parserOf } from './parser.ts'

type AfterParsing = (result: ParserResult) => void

const nothing = Buffer.alloc(0)
const [carriageReturn, lineFeed] = [0x0d, 0x0a]

export interface ReaderEvents {
  /** Bytes have arrived. They are not parsed yet, and nothing is kept. @returns whether they are dealt with, so that the parser never sees them */
  arrived(bytes: Buffer): boolean
  /** More bytes are kept than before, or fewer. */
  changed(difference: number): void
  /** The parsed bytes are malformed. */
  failed(error: Error): void
}

/**
 * Takes what a connection reads from Node's parser. It reads below the socket until somebody listens for `data`. Then Node also
 * removes its listeners that stop the reading while the socket is paused, without which the socket would first fill its buffer.
 */
function readFrom(socket: Socket, take: (bytes: Buffer) => void): void {
  const [pausing, resuming] = [socket.listeners('pause'), socket.listeners('resume')] as (() => void)[][]
  for (const event of ['data', 'pause', 'resume']) socket.removeAllListeners(event)
  socket.on('data', take)
  for (const listener of pausing ?? []) socket.on('pause', listener)
  for (const listener of resuming ?? []) socket.on('resume', listener)
}

/** Whether bytes end as a request without a body does. */
function endsWithEmptyLine(bytes: Buffer): boolean {
  const { length } = bytes
  return (
    length >= 4 &&
    bytes[length - 1] === lineFeed &&
    bytes[length - 2] === carriageReturn &&
    bytes[length - 3] === lineFeed &&
    bytes[length - 4] === carriageReturn
  )
}

/**
 * Reads a connection for Node's parser, and keeps what is not parsed yet. Node itself parses all 64 KiB that it reads at once.
 * They hold thousands of requests, and when hundreds of connections send so much, others wait for the garbage collector.
 */
export class ConnectionReader {
  readonly #parser: Parser | undefined
  readonly #afterParsing: AfterParsing = () => undefined
  readonly #events: ReaderEvents
  #bytes: Buffer | undefined
  #isAfterEmptyLine = false

  constructor(socket: Socket, events: ReaderEvents) {
    this.#events = events
    const parser = parserOf(socket)
    const key = parser && callbackKey(parser, 'bound onParserExecute')
    if (!parser || key === undefined) return
    this.#parser = parser
    this.#afterParsing = parser[key] as AfterParsing
    readFrom(socket, (bytes) => {
      if (!events.arrived(bytes)) this.#execute(parser, bytes)
    })
  }

  /** Whether a pause of the parser ends again. A version of Node may not have the callback that this needs. */
  get canResume(): boolean {
    return this.#parser !== undefined
  }

  /**
   * Whether the next byte belongs to a new request, if the last request that the parser reported is complete. If a part of
   * another one had been parsed after it, the empty line would have ended the header section of that one.
   */
  get isAfterEmptyLine(): boolean {
    return this.#isAfterEmptyLine
  }

  /** Parses what is kept until the parser pauses again. */
  parse(): void {
    const bytes = this.#bytes
    if (!bytes || !this.#parser) return
    this.discard()
    this.#execute(this.#parser, bytes)
  }

  discard(): void {
    const { length = 0 } = this.#bytes ?? {}
    this.#bytes = undefined
    if (length > 0) this.#events.changed(-length)
  }

  #execute(parser: Parser, bytes: Buffer): void {
    this.#isAfterEmptyLine = false
    const result = this.#keepRest(parser, parser.execute(bytes), bytes)
    this.#isAfterEmptyLine = this.#bytes === undefined && endsWithEmptyLine(bytes)
    if (typeof result === 'number') this.#afterParsing(result)
    else this.#events.failed(Object.assign(result, { rawPacket: bytes }))
  }

  #keepRest(parser: Parser, result: ParserResult, bytes: Buffer): ParserResult {
    if (typeof result === 'number' || result.code !== 'HPE_PAUSED') return result
    const rest = bytes.subarray(result.bytesParsed)
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
