import type { LookupFunction } from 'node:net'
import { Agent, type Dispatcher, request } from 'undici'
import type { Attempt } from '../domain/webhook.ts'
import { readRetryAfter } from './schedule.ts'
import { TargetError, type Targets } from './targets.ts'

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Milliseconds. */
const timeouts = {
  /** For a whole attempt, from the look-up of the host to the end of the answer. */
  attempt: 10_000,
  /** For the rest of an answer whose status has arrived: only the status counts. */
  rest: 1_000,
  /** A connection without a request is closed sooner than most servers close it (Node.js: 5 s). */
  idle: 4_000
}

/** The most bytes that are read of an answer. */
const longestAnswer = 64 * 1024

/** Posts deliveries. No redirect is followed, and only addresses that `targets` allows are connected to. */
export class Sender {
  readonly #targets: Targets
  readonly #agent: Agent

  constructor(targets: Targets) {
    this.#targets = targets
    this.#agent = new Agent({
      connect: { lookup: checkedLookup(targets), timeout: timeouts.attempt },
      headersTimeout: timeouts.attempt,
      bodyTimeout: timeouts.attempt,
      keepAliveTimeout: timeouts.idle,
      keepAliveMaxTimeout: timeouts.idle
    })
  }

  /** Never throws: what goes wrong is the outcome. @param stop ends the attempt early */
  async post({ url, headers, body }: Post, stop: AbortSignal): Promise<Attempt> {
    const begin = performance.now()
    const at = Date.now()
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), timeouts.attempt)
    const end = AbortSignal.any([stop, late.signal])
    const finish = (outcome: Pick<Attempt, 'status' | 'failure' | 'retryAfter'>): Attempt => ({
      at,
      durationMs: Math.round(performance.now() - begin),
      ...outcome
    })
    try {
      // An address in the URL is not looked up, so it is checked here.
      const target = this.#targets.read(url)
      const answer = await request(target, { method: 'POST', headers, body, dispatcher: this.#agent, signal: end })
      const field = answer.headers['retry-after']
      const retryAfter = readRetryAfter(typeof field === 'string' ? field : field?.[0], Date.now())
      await discard(answer.body)
      return finish({ status: answer.statusCode, ...(retryAfter === undefined ? {} : { retryAfter }) })
    } catch (error) {
      return finish({ failure: late.signal.aborted ? `There was no answer within ${timeouts.attempt / 1000} seconds.` : explain(error) })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Closes all connections at once. */
  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

/** Connections are made to the addresses that were checked. */
function checkedLookup(targets: Targets): LookupFunction {
  return (hostname, options, callback) => {
    targets.addresses(hostname).then(
      (addresses) => {
        const wanted = addresses.filter(({ family }) => !options.family || options.family === family)
        const [first] = wanted
        if (!first) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
        else if (options.all) callback(null, [...wanted])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, '', 0)
    )
  }
}

/** Reads the rest of an answer, so that its connection can be used again, or closes the connection when that takes long. */
async function discard(body: Dispatcher.ResponseData['body']): Promise<void> {
  const timer = setTimeout(() => body.destroy(), timeouts.rest)
  try {
    let length = 0
    for await (const chunk of body) {
      length += (chunk as Buffer).length
      if (length > longestAnswer) break
    }
  } catch {
    // The status has arrived, and only that counts.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection without an answer.',
  EPIPE: 'The receiver closed the connection without an answer.',
  UND_ERR_SOCKET: 'The receiver closed the connection without an answer.',
  ENOTFOUND: 'The host cannot be found.',
  ENODATA: 'The host cannot be found.',
  EAI_AGAIN: 'The host cannot be looked up now.',
  ETIMEOUT: 'The host cannot be looked up now.',
  ESERVFAIL: 'The host cannot be looked up now.',
  EHOSTUNREACH: 'The receiver cannot be reached.',
  ENETUNREACH: 'The receiver cannot be reached.',
  ETIMEDOUT: 'The receiver cannot be reached.',
  UND_ERR_CONNECT_TIMEOUT: 'The receiver cannot be reached.',
  UND_ERR_HEADERS_OVERFLOW: 'The header of the answer is too large.'
}

/** Why an attempt failed, in plain words: the owner of the webhook reads them. */
function explain(error: unknown): string {
  if (error instanceof TargetError) return error.message
  const { code, name, errors } = error as NodeJS.ErrnoException & { readonly errors?: readonly unknown[] }
  const first = errors?.[0]
  if (first !== undefined) return explain(first)
  if (name === 'AbortError') return 'The shop stopped before there was an answer.'
  if (code !== undefined && Object.hasOwn(reasons, code)) return reasons[code] ?? ''
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code ?? '')) return 'The certificate of the receiver is not trusted.'
  if (/SSL|TLS/.test(code ?? '')) return 'No TLS connection could be made.'
  if (code?.startsWith('HPE_') || name === 'HTTPParserError') return 'The answer is not HTTP.'
  return 'The receiver could not be called.'
}
