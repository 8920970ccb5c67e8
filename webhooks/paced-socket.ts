import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { Duplex } from 'node:stream'
import type { AnswerTurns } from './answer-turns.ts'

/** The most bytes that are read at once. Node itself reads 64 KiB, and reads a connection 32 times before it serves others. */
const readSize = 4 * 1024

/** The reads of one answer before the first pause. An ordinary answer needs fewer, also with the handshake of TLS. */
const quickReads = 6
/** Milliseconds for each read so far: a pause is longer than the one before, so a receiver that sends single bytes costs few reads. */
const pause = 10

/** The most bytes that are read for an answer, with its header, its framing, and what TLS adds. */
export const longestAnswer = 64 * 1024

/**
 * The most bytes that are read until a TLS connection is made. Most certificate chains have 3 to 8 KiB. OpenSSL verifies the whole chain
 * before Node.js can refuse it: 61 KB of name constraints took 390 ms, and 15 KB take 30 to 70 ms, or with
 * 35 signatures of the curve sect571r1 95 ms.
 */
export const longestHandshake = 16 * 1024

/** An answer that the shop does not take. The owner of the webhook reads the message. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

/**
 * A connection that limits how much of it is read and how often, whatever the other end sends. It is below TLS, because Node.js
 * decrypts at once all that it reads, and a TLS record, a new ticket or a new key can be sent in 30 bytes. What was read is handled when it
 * is the customer's turn: one part of a handshake can take 0.1 s, and a customer has many receivers.
 */
export class PacedSocket extends Duplex {
  readonly #socket: Socket
  readonly #turns: AnswerTurns
  #limit: number
  /** The customer whose answer is read. */
  #customer = ''
  #bytes = 0
  #reads = 0
  #isReading = true
  #next: NodeJS.Timeout | undefined

  /**
   * @param limit the most bytes that are read for an answer. `limitTo` changes it
   * @param turns the turns of all customers, in which what was read is handled
   */
  constructor(options: TcpNetConnectOpts, limit: number, turns: AnswerTurns) {
    super({ allowHalfOpen: false })
    this.#limit = limit
    this.#turns = turns
    const onread = {
      buffer: Buffer.allocUnsafeSlow(readSize),
      callback: (length: number, buffer: Uint8Array) => this.#take(Buffer.from(buffer.subarray(0, length)))
    }
    this.#socket = connect({ ...options, onread })
      .on('end', () => this.push(null))
      .on('timeout', () => this.emit('timeout'))
      .on('error', (error) => this.destroy(error))
  }

  limitTo(bytes: number): void {
    this.#limit = bytes
  }

  /** Begins to count for another answer, which may be one to another customer. */
  restart(customer: string): void {
    this.#customer = customer
    this.#bytes = 0
    this.#reads = 0
    if (!this.#next) return
    // This ends the pause that began during the previous answer.
    clearTimeout(this.#next)
    this.#next = undefined
    this._read()
  }

  // Node's agent calls the following methods of the connections that it keeps.

  ref(): void {
    this.#socket.ref()
  }

  unref(): void {
    this.#socket.unref()
  }

  setKeepAlive(enable: boolean, delay: number): void {
    this.#socket.setKeepAlive(enable, delay)
  }

  setTimeout(milliseconds: number): void {
    this.#socket.setTimeout(milliseconds)
  }

  /** Node's HTTP client calls this for a connection that is not used again. */
  destroySoon(): void {
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy()).end()
  }

  override _read(): void {
    if (this.#isReading || this.#next) return
    const readOn = () => {
      this.#next = undefined
      this.#isReading = true
      this.#socket.resume()
    }
    this.#next = setTimeout(readOn, this.#reads < quickReads ? 0 : this.#reads * pause)
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.cork()
    for (const [at, { chunk }] of chunks.entries()) this.#socket.write(chunk, at === chunks.length - 1 ? done : undefined)
    this.#socket.uncork()
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#next)
    this.#socket.destroy()
    done(error)
  }

  /** @returns false, so that nothing more is read until `_read` */
  #take(bytes: Buffer): boolean {
    this.#bytes += bytes.length
    this.#reads++
    if (this.#bytes > this.#limit) this.destroy(new AnswerError(`The receiver sent more than ${this.#limit / 1024} KiB.`))
    else this.#turns.schedule(this.#customer, () => this.#handle(bytes))
    return false
  }

  #handle(bytes: Buffer): void {
    this.#isReading = false
    if (!this.destroyed) this.push(bytes)
  }
}
