import { type Fault, mostFaults } from '../domain/errors.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { DocumentNotation } from './notation.ts'
import type { HttpProblemCode } from './problem-codes.ts'

/** For every 503: the client should wait this many seconds. */
export const retryAfter = { 'retry-after': '5' }

interface ProblemOptions {
  readonly faults?: readonly (Fault | LocatedFault)[]
  readonly headers?: Readonly<Record<string, string>>
  /** The alternatives on offer: media types, methods or parameters. */
  readonly available?: readonly string[]
  /** The notation of the request's document, if it is not the one that the Content-Type names. */
  readonly notation?: DocumentNotation
  /** The cause of the problem. The service uses it; the client does not get it. */
  readonly cause?: unknown
}

/** Thrown to refuse a request. `detail` is for the client: it says what is wrong and what to do. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: HttpProblemCode
  /** At most `mostFaults`. */
  readonly faults: readonly (Fault | LocatedFault)[]
  readonly headers: Readonly<Record<string, string>>
  readonly available: readonly string[] | undefined
  readonly notation: DocumentNotation | undefined

  constructor(code: HttpProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.faults = options.faults?.slice(0, mostFaults) ?? []
    this.headers = options.headers ?? {}
    this.available = options.available
    this.notation = options.notation
  }
}

/** @param limit in bytes */
export function bodyTooLarge(method: string, limit: number): Problem {
  const hint = method === 'PUT' ? ' What the service itself manages (totals, dates, links) can be left out.' : ''
  return new Problem('body-too-large', `The body is larger than ${limit} bytes.${hint}`)
}

/** @param limit in bytes */
export function uriTooLong(limit: number): Problem {
  return new Problem('uri-too-long', `The request target is longer than ${limit} bytes.`)
}

/**
 * The problem of a URI without a resource.
 * @param base the path of BASE_URL
 */
export function noResource(base: string, url: string): Problem {
  const isOutside = base !== '' && !url.startsWith(`${base}/`)
  const next = isOutside ? `The shop begins at ${base}/` : 'Start at the home page and follow its links'
  return new Problem('not-found', `There is no page at this address. ${next}.`)
}
