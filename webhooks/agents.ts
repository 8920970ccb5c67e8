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

/** The two agents have these in common. */
interface Shared {
  /** The time of their thread. */
  readonly turns: AnswerTurns
  /** Whether one more connection may stay open without a request. */
  mayStay(): boolean
}

/** @param isReusable what `keepSocketAlive` of Node.js returns, though its type says that it returns nothing */
function stays(isReusable: unknown, shared: Shared): boolean {
  return isReusable !== false && shared.mayStay()
}

class PlainAgent extends HttpAgent {
  readonly #shared: Shared

  constructor(options: AgentOptions, shared: Shared) {
    super(options)
    this.#shared = shared
  }

  override keepSocketAlive(connection: Duplex): boolean {
    return stays(super.keepSocketAlive(connection), this.#shared)
  }

  override createConnection(options: ClientRequestArgs): Duplex {
    const socket = new PacedSocket(options as TcpNetConnectOpts, longestAnswer, this.#shared.turns)
    paced.set(socket, socket)
    return socket
  }
}

class SecureAgent extends HttpsAgent {
  readonly #shared: Shared

  constructor(options: AgentOptions, shared: Shared) {
    super(options)
    this.#shared = shared
  }

  override keepSocketAlive(connection: Duplex): boolean {
    return stays(super.keepSocketAlive(connection), this.#shared)
  }

  override createConnection(options: ClientRequestArgs): Duplex | null | undefined {
    const socket = new PacedSocket(options as TcpNetConnectOpts, longestHandshake, this.#shared.turns)
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
  const idleOf = ({ freeSockets }: HttpAgent) => Object.values(freeSockets).flat().length
  const shared: Shared = { turns: new AnswerTurns(), mayStay: () => idleOf(http) + idleOf(https) < mostIdle }
  const http = new PlainAgent(options, shared)
  const https = new SecureAgent({ ...options, ...tls, ...(ca ? { ca } : {}) }, shared)
  return { http, https }
}
