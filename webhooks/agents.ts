import { constants } from 'node:crypto'
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { LookupFunction, TcpNetConnectOpts } from 'node:net'
import type { Duplex } from 'node:stream'
import { DEFAULT_CIPHERS } from 'node:tls'
import { AnswerTurns } from './answer-turns.ts'
import { longestAnswer, longestHandshake, PacedSocket } from './paced-socket.ts'

/** Milliseconds. A connection without a request is closed sooner than most servers close it (Node.js: 5 s). */
const idle = 4_000

/**
 * The TLS options that a receiver can choose from. With a Diffie-Hellman group of its own, a receiver could make each handshake
 * expensive (10,000 bits). With renegotiation it could ask for any number of them. ARIA and Camellia are slower than AES, which processors have.
 */
const tls = {
  ciphers: `${DEFAULT_CIPHERS}:!DHE:!ARIA:!CAMELLIA`,
  ecdhCurve: 'X25519:prime256v1:secp384r1:secp521r1',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION
}

/** The paced socket below each connection of an agent. */
const paced = new WeakMap<Duplex, PacedSocket>()

/** Begins to count the bytes of an answer to a customer on a connection. */
export function expectAnswer(connection: Duplex, customer: string): void {
  paced.get(connection)?.restart(customer)
}

/** The connections of an agent that have no request. */
function idleOf({ freeSockets }: HttpAgent): number {
  return Object.values(freeSockets).reduce((count, sockets = []) => count + sockets.length, 0)
}

class PlainAgent extends HttpAgent {
  readonly #turns: AnswerTurns
  readonly #mostIdle: number

  constructor(options: AgentOptions, turns: AnswerTurns, mostIdle: number) {
    super(options)
    this.#turns = turns
    this.#mostIdle = mostIdle
  }

  override keepSocketAlive(connection: Duplex): boolean {
    // Its type says that it returns nothing.
    const isReusable: unknown = super.keepSocketAlive(connection)
    return isReusable !== false && idleOf(this) < this.#mostIdle
  }

  override createConnection(options: ClientRequestArgs): Duplex {
    const socket = new PacedSocket(options as TcpNetConnectOpts, longestAnswer, this.#turns)
    paced.set(socket, socket)
    return socket
  }
}

class SecureAgent extends HttpsAgent {
  readonly #turns: AnswerTurns
  readonly #mostIdle: number

  constructor(options: AgentOptions, turns: AnswerTurns, mostIdle: number) {
    super(options)
    this.#turns = turns
    this.#mostIdle = mostIdle
  }

  override keepSocketAlive(connection: Duplex): boolean {
    // Its type says that it returns nothing.
    const isReusable: unknown = super.keepSocketAlive(connection)
    return isReusable !== false && idleOf(this) < this.#mostIdle
  }

  override createConnection(options: ClientRequestArgs): Duplex | null | undefined {
    const socket = new PacedSocket(options as TcpNetConnectOpts, longestHandshake, this.#turns)
    const connection = super.createConnection({ ...options, socket } as ClientRequestArgs)
    if (!connection) return connection
    paced.set(connection, socket)
    connection.once('secureConnect', () => socket.limitTo(longestAnswer))
    socket.on('error', (error) => connection.destroy(error))
    return connection
  }
}

/**
 * Agents whose connections are read slowly and not far (see PacedSocket).
 * @param lookup finds only addresses that may be called
 * @param mostIdle connections of both that stay open without a request
 * @param ca the certificates of authorities that are trusted; by default those of Node.js
 */
export function makeAgents(
  lookup: LookupFunction,
  mostIdle: number,
  ca?: Buffer
): { readonly http: HttpAgent; readonly https: HttpsAgent } {
  const options: AgentOptions = { keepAlive: true, timeout: idle, lookup }
  const idleLimit = Math.floor(mostIdle / 2)
  // Both share the time of their thread.
  const turns = new AnswerTurns()
  return {
    http: new PlainAgent(options, turns, idleLimit),
    https: new SecureAgent({ ...options, ...tls, ...(ca ? { ca } : {}) }, turns, idleLimit)
  }
}
