import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'

/** An answer as it came over the socket. */
export interface Answer {
  readonly status: number
  /** By lower-case name; several lines of one name are joined. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The status line and the header lines, as they were sent. */
  readonly head: string
}

/** How long a test waits for bytes, in milliseconds: far longer than anything here takes. */
const timeout = 300_000

function parseHead(head: string): Omit<Answer, 'body'> {
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return { status: Number(statusLine.split(' ')[1]), headers, head }
}

/** The body's text and where it ends, or undefined while it is not all there. */
function parseBody(bytes: Buffer, start: number, { status, headers }: Omit<Answer, 'body'>, isHead: boolean, ended: boolean) {
  if (isHead || status < 200 || status === 204 || status === 304) return { body: '', end: start }
  if (headers['transfer-encoding'] === 'chunked') {
    let at = start
    const parts: Buffer[] = []
    for (;;) {
      const line = bytes.indexOf('\r\n', at)
      if (line === -1) return undefined
      const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
      if (bytes.length < line + size + 4) return undefined
      if (size === 0) return { body: Buffer.concat(parts).toString('utf8'), end: line + 4 }
      parts.push(bytes.subarray(line + 2, line + 2 + size))
      at = line + size + 4
    }
  }
  const length = headers['content-length']
  if (length === undefined) return ended ? { body: bytes.toString('utf8', start), end: bytes.length } : undefined
  const end = start + Number(length)
  return bytes.length < end ? undefined : { body: bytes.toString('utf8', start, end), end }
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the service does not listen')
  return address.port
}

/** One connection, with nothing between the test and the bytes: no client that mends, retries or hides what was sent. */
export class Wire {
  readonly #socket: Socket
  /** The received bytes that are not read yet, in the pieces in which they came. */
  #chunks: Buffer[] = []
  #ended = false
  #failure: Error | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
    socket.on('end', () => {
      this.#ended = true
    })
    socket.on('error', (error) => {
      this.#failure = error
    })
    socket.on('close', () => {
      this.#ended = true
    })
  }

  /**
   * @param to the service, or the port of the loopback interface where it listens
   * @param localAddress the client's, on loopback
   */
  static async open(t: Test, to: FastifyInstance | number, localAddress = '127.0.0.1'): Promise<Wire> {
    const port = typeof to === 'number' ? to : portOf(to)
    const socket = connect({ host: '127.0.0.1', port, localAddress, allowHalfOpen: true, noDelay: true })
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return new Wire(socket)
  }

  /** All of it in one piece. To join the pieces as they come would copy a large answer hundreds of times. */
  get #received(): Buffer {
    const [first = Buffer.alloc(0), ...more] = this.#chunks
    if (more.length > 0) this.#chunks = [Buffer.concat([first, ...more])]
    return this.#chunks[0] ?? first
  }

  /** How the connection broke, if it did. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Reads nothing from the connection until `resume`. */
  pause(): this {
    this.#socket.pause()
    return this
  }

  resume(): this {
    this.#socket.resume()
    return this
  }

  /** Sends bytes as they are; a string is Latin-1, as header fields are. */
  send(bytes: string | Buffer): this {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    return this
  }

  /** Says that no more will be sent, and still reads. */
  end(): this {
    this.#socket.end()
    return this
  }

  /** Resets the connection. */
  abort(): void {
    this.#socket.resetAndDestroy()
  }

  /** Waits until there are as many bytes as that, or at least some more; or until the connection ends. */
  async #more(length = 0): Promise<void> {
    do await this.#piece()
    while (!this.#ended && this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0) < length)
  }

  async #piece(): Promise<void> {
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(timeout)])
    try {
      await Promise.race(['data', 'close', 'end'].map((event) => once(this.#socket, event, { signal })))
    } finally {
      // This removes the listeners for the two other events.
      over.abort()
    }
  }

  /** The next answer. @param method the request's: the answer to HEAD has no body */
  async answer(method = 'GET'): Promise<Answer> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n')
      let whole = 0
      if (end !== -1) {
        const head = parseHead(this.#received.toString('latin1', 0, end))
        const found = parseBody(this.#received, end + 4, head, method === 'HEAD', this.#ended)
        if (found) {
          this.#chunks = [this.#received.subarray(found.end)]
          return { ...head, body: found.body }
        }
        whole = end + 4 + Number(head.headers['content-length'] ?? 0)
      }
      if (this.#ended) throw this.#failure ?? new Error(`the connection ended with ${JSON.stringify(this.#received.toString('latin1'))}`)
      await this.#more(whole)
    }
  }

  /** Everything until the other side closes: empty when no further answer came. */
  async rest(): Promise<string> {
    while (!this.#ended) await this.#more()
    return this.#received.toString('latin1')
  }

  /** Whether nothing has come since the last answer. */
  isSilent(): boolean {
    return this.#received.length === 0 && !this.#ended
  }
}

/**
 * Sends one request over a connection of its own.
 * @param from the client's address, on loopback
 */
export async function ask(t: Test, app: FastifyInstance | number, request: string | Buffer, from = '127.0.0.1'): Promise<Answer> {
  const wire = await Wire.open(t, app, from)
  const method = request.toString('latin1').split(' ', 1)[0]
  const answer = await wire.send(request).answer(method)
  wire.end()
  return answer
}

/** The bytes of a request: `GET /products`, header lines, a body with its length. */
export function message(line: string, headers: Readonly<Record<string, string | readonly string[]>> = {}, body?: string): string {
  const given = Object.entries({ host: 'shop.example', ...headers })
  const lines = given.flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`))
  if (body !== undefined) lines.push(`content-length: ${Buffer.byteLength(body)}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${Buffer.from(body ?? '').toString('latin1')}`
}

/** Lets the service listen on a free port of the loopback interface. */
export async function listening(app: FastifyInstance): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** The remaining requests that an answer's RateLimit field tells. */
export function remaining(headers: Readonly<Record<string, unknown>>): number {
  return Number(/;r=(\d+);/.exec(String(headers['ratelimit']))?.[1])
}
