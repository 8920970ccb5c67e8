import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import type { Attempt } from '../domain/webhook.ts'
import { expectAnswer, makeAgents } from './agents.ts'
import { AnswerError } from './paced-socket.ts'
import { readRetryAfter } from './schedule.ts'
import { type Signing, signatureHeaders } from './signature.ts'
import { type Address, TargetError, type Targets } from './targets.ts'
import { withSignal } from './with-signal.ts'

export interface Post {
  readonly url: string
  /** The customer whose receiver is called. Customers share the time of the thread. */
  readonly customer: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly signing: Signing
}

/** The shop could not make an attempt, which is no fault of the receiver. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError'
}

/** Milliseconds. */
export const timeouts = {
  /** For a whole attempt, from the look-up of the host to the end of the answer. */
  attempt: 10_000,
  /** For the rest of an answer whose status has arrived: only the status counts. */
  rest: 1_000
}

/**
 * Bytes of a body that are written at once. TLS encrypts them in one go, and keeps a copy until the receiver has read them. Receivers that
 * read nothing should not double the memory of large orders.
 */
const writeSize = 64 * 1024

/** The most interim (1xx) answers before the answer (RFC 9110 section 15.2). Node takes any number. */
const mostInterim = 8

/**
 * Posts deliveries. It follows no redirect, and connects only to addresses that `targets` allows. It uses the client of node:http,
 * because undici has a defect: in 7.30.2 an assertion fails outside of any promise when a receiver ends its answer while reading is paused.
 */
export class Sender {
  readonly #targets: Targets
  readonly #agents: ReturnType<typeof makeAgents>

  /** @param mostIdle connections that stay open for a next delivery */
  constructor(targets: Targets, mostIdle: number) {
    this.#targets = targets
    this.#agents = makeAgents(checkedLookup(targets), mostIdle)
  }

  /**
   * Makes an attempt. One that fails is an outcome, too.
   * @param stop ends the attempt early
   * @throws NotSentError if the shop itself cannot make it
   */
  async post({ url, customer, headers, body, signing }: Post, stop: AbortSignal): Promise<Attempt> {
    const begin = performance.now()
    const at = Date.now()
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeouts.attempt)
    const finish = (outcome: Pick<Attempt, 'status' | 'failure' | 'retryAfter'>): Attempt => ({
      at,
      durationMs: Math.round(performance.now() - begin),
      ...outcome
    })
    try {
      // An address in the URL is not looked up, so it is checked here.
      const target = this.#targets.read(url)
      const answer = await withSignal([stop, late.signal], async (end) => {
        const received = await this.#send(target, customer, { ...headers, ...signatureHeaders(signing, body) }, body, end)
        await discard(received)
        return received
      })
      const retryAfter = readRetryAfter(answer.headers['retry-after'], Date.now())
      return finish({ status: answer.statusCode ?? 0, ...(retryAfter === undefined ? {} : { retryAfter }) })
    } catch (error) {
      const first = firstOf(error)
      if (isOwnFault(first)) throw new NotSentError(`no connection can be made now: ${first.message}`)
      return finish({ failure: late.signal.aborted ? `There was no answer within ${timeouts.attempt / 1000} seconds.` : explain(first) })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Closes all connections at once. */
  close(): void {
    this.#agents.http.destroy()
    this.#agents.https.destroy()
  }

  /** Resolves when the header of the answer has arrived. */
  #send(target: URL, customer: string, headers: Post['headers'], body: Uint8Array, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', headers: { ...headers, 'content-length': body.length }, signal }
      const isTls = target.protocol === 'https:'
      const request = isTls
        ? httpsRequest(target, { ...options, agent: this.#agents.https })
        : httpRequest(target, { ...options, agent: this.#agents.http })
      // This listener also handles an error of the connection after the header.
      request.on('error', reject)
      request.on('socket', (connection) => expectAnswer(connection, customer))
      let interim = 0
      request.on('information', () => {
        if (++interim > mostInterim) request.destroy(new AnswerError(`The receiver sent more than ${mostInterim} interim (1xx) answers.`))
      })
      // Without a listener, Node would close the connection and tell nobody.
      request.on('upgrade', (_answer, socket) => {
        socket.destroy()
        reject(new AnswerError('The receiver asked for another protocol (101).'))
      })
      // This runs however the request has ended. A promise that is never settled would keep a turn of the deliveries for ever.
      request.on('close', () => reject(new AnswerError(closedEarly)))
      request.on('response', (answer) => {
        answer.on('error', () => {})
        // A receiver may answer before it has read the body. Node would keep the connection and the body.
        answer.on('close', () => request.writableEnded || request.destroy())
        resolve(answer)
      })
      Readable.from(partsOf(body)).pipe(request)
    })
  }
}

function* partsOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += writeSize) yield body.subarray(at, at + writeSize)
}

/**
 * The most addresses of each family to which an attempt connects. Where the shop has no route to any, Node tries all of them in one go,
 * for 0.1 ms each.
 */
const mostTried = 4

/** A look-up for connections that finds only addresses that `targets` allows. */
function checkedLookup(targets: Targets): LookupFunction {
  return (hostname, options, callback) => {
    targets.addresses(hostname).then(
      (addresses) => {
        const tried = { 4: 0, 6: 0 }
        const isWanted = ({ family }: Address) => (!options.family || options.family === family) && ++tried[family] <= mostTried
        const wanted = addresses.filter(isWanted)
        const [first] = wanted
        if (!first) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
        else if (options.all) callback(null, wanted)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, '', 0)
    )
  }
}

/** Reads the rest of an answer, so that its connection can be used again. Closes the connection if that takes long. */
async function discard(body: IncomingMessage): Promise<void> {
  const timer = setTimeout(() => body.destroy(), timeouts.rest)
  try {
    for await (const _ of body);
  } catch {
    // Only the status counts, and it has arrived.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
}

/** Why an attempt has no answer that the shop itself has ended. */
export const stopped = 'The shop stopped before there was an answer.'
const closedEarly = 'The receiver closed the connection without an answer.'
const notFound = 'The host cannot be found.'
const noLookUp = 'The host cannot be looked up now.'
const unreachable = 'The receiver cannot be reached.'
const noTls = 'No TLS connection could be made.'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: closedEarly,
  EPIPE: closedEarly,
  ENOTFOUND: notFound,
  ENODATA: notFound,
  EAI_AGAIN: noLookUp,
  ETIMEOUT: noLookUp,
  ESERVFAIL: noLookUp,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  EPROTO: noTls,
  HPE_HEADER_OVERFLOW: 'The header of the answer is too large.'
}

/** Node.js makes one error of those of all addresses of a host. @returns the first of them */
function firstOf(error: unknown): NodeJS.ErrnoException {
  const [first] = (error as { readonly errors?: readonly unknown[] }).errors ?? []
  return first === undefined ? (error as NodeJS.ErrnoException) : firstOf(first)
}

/** Whether the shop itself has no file descriptor or memory for a connection, or no name server. A query without a descriptor looks refused. */
function isOwnFault({ code = '', syscall = '' }: NodeJS.ErrnoException): boolean {
  return ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].includes(code) || (code === 'ECONNREFUSED' && syscall.startsWith('query'))
}

/** Why an attempt failed, in plain words: the owner of the webhook reads them. */
function explain(error: NodeJS.ErrnoException): string {
  if (error instanceof TargetError || error instanceof AnswerError) return error.message
  const { code, name } = error
  if (name === 'AbortError') return stopped
  if (code !== undefined && Object.hasOwn(reasons, code)) return reasons[code] ?? ''
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code ?? '')) return 'The certificate of the receiver is not trusted.'
  if (/SSL|TLS/.test(code ?? '')) return noTls
  if (code?.startsWith('HPE_')) return 'The answer is not HTTP.'
  return 'The receiver could not be called.'
}
