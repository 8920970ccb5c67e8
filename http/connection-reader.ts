import type { Socket } from 'node:net'
import { callbackKey, type Parser, type ParserError, type ParserResult, parserOf } from './parser.ts'

type AfterParsing = (result: ParserResult) => void

const nothing = Buffer.alloc(0)
/** Node reads at most this many bytes at once. When it gets all of them, it reads the same connection again, before others. */
export const readSize = 64 * 1024
/** A read of up to this many bytes counts as short: to parse it takes less time than to stop the connection and to read on. */
const shortRead = 1024
const emptyLine = Buffer.from('\r\n\r\n').readUInt32BE()

export interface ReaderOptions {
  /** Answers bytes that have arrived, so that they need no parser. It is not called while older bytes are kept. @returns whether it did */
  answer(bytes: Buffer): boolean
  /** Whether bytes that have arrived must wait. Then nothing more is read until `parse` is called. */
  waitsForTurn(isShort: boolean): boolean
  /** The number of kept bytes that were sent ahead has changed by this much. */
  changed(difference: number): void
  /** The parsed bytes are malformed. */
  failed(error: Error): void
}

/**
 * Makes `take` the only listener for what a connection reads. Until a socket has a `data` listener, Node's parser reads from the
 * handle below it. When a `data` listener is added, Node removes its own listeners for `pause` and `resume`, which stop and start
 * the reading. They are put back here.
 */
export function takeData(socket: Socket, take: (bytes: Buffer) => void): void {
  const [pausing, resuming] = [socket.listeners('pause'), socket.listeners('resume')] as (() => void)[][]
  for (const event of ['data', 'pause', 'resume']) socket.removeAllListeners(event)
  socket.on('data', take)
  for (const listener of pausing ?? []) socket.on('pause', listener)
  for (const listener of resuming ?? []) socket.on('resume', listener)
}

/** By itself, a stream that is paused in a `data` event reads on until its buffer is full. */
function readOnlyUnpaused(socket: Socket): void {
  const read = socket._read.bind(socket)
  socket._read = (size) => {
    if (!socket.isPaused()) read(size)
  }
}

/** Whether bytes end as a request without a body does. */
function endsWithEmptyLine(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32BE(bytes.length - 4) === emptyLine
}

/**
 * Reads a connection for Node's parser, and keeps what is not parsed yet. Node itself parses all 64 KiB that it reads at once.
 * They hold thousands of requests, and when hundreds of connections send so much, others wait for the garbage collector.
 */
export class ConnectionReader {
  readonly #parser: Parser | undefined
  readonly #afterParsing: AfterParsing = () => undefined
  readonly #options: ReaderOptions
  #bytes: Buffer | undefined
  #counted = 0
  #refusal: ParserError | undefined
  #isAfterEmptyLine = false

  constructor(socket: Socket, options: ReaderOptions) {
    this.#options = options
    const parser = parserOf(socket)
    const key = parser && callbackKey(parser, 'bound onParserExecute')
    if (!parser || key === undefined) return
    this.#parser = parser
    this.#afterParsing = parser[key] as AfterParsing
    readOnlyUnpaused(socket)
    takeData(socket, (bytes) => {
      if (options.answer(bytes)) return
      // These bytes are not counted: each connection keeps the bytes of one read at most.
      if (options.waitsForTurn(bytes.length <= shortRead)) this.#bytes = bytes
      else this.#parse(parser, bytes)
    })
  }

  /** Whether the parser can go on after a pause. A version of Node may not have the callback that this needs. */
  get canResume(): boolean {
    return this.#parser !== undefined
  }

  /**
   * Whether the parser has taken all bytes, and they ended with an empty line. If the last reported request is complete, too, the
   * next byte begins a new request: no part of another request can have arrived, because the empty line would have completed it.
   */
  get isAfterEmptyLine(): boolean {
    return this.#isAfterEmptyLine
  }

  /** Parses bytes, or what is kept, until the parser pauses again. */
  parse(bytes = this.#bytes): void {
    if (!bytes || !this.#parser) return
    this.discard()
    // Node itself pauses the parser while the client does not read. A paused parser would take nothing and report a wrong position.
    this.#parser.resume()
    this.#parse(this.#parser, bytes)
  }

  discard(): void {
    const counted = this.#counted
    this.#bytes = undefined
    this.#counted = 0
    if (counted > 0) this.#options.changed(-counted)
  }

  /** Refuses what is being parsed. Call it in a callback of the parser: it throws, because only that ends the parsing at once. */
  refuse(error: ParserError): void {
    if (!this.#parser) {
      this.#options.failed(error)
      return
    }
    this.#refusal = error
    throw error
  }

  #execute(parser: Parser, bytes: Buffer): ParserResult {
    let result: ParserResult = 0
    try {
      result = parser.execute(bytes)
    } catch (error) {
      if (error !== this.#refusal) throw error
    }
    // Node 22 and 24 lose what a callback throws if async hooks are used, for example by a tracer, and return nothing.
    return this.#refusal ?? result
  }

  #parse(parser: Parser, bytes: Buffer): void {
    this.#isAfterEmptyLine = false
    const result = this.#keepRest(parser, this.#execute(parser, bytes), bytes)
    if (typeof result !== 'number') {
      this.#options.failed(Object.assign(result, { rawPacket: bytes }))
      return
    }
    this.#afterParsing(result)
    this.#isAfterEmptyLine = this.#bytes === undefined && result === bytes.length && bytes.length < readSize && endsWithEmptyLine(bytes)
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
      this.#counted = rest.length
      this.#options.changed(rest.length)
    }
    return bytes.length - rest.length
  }
}
