import type { Fault } from '../domain/errors.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { DocumentNotation } from './notation.ts'
import type { HttpProblemCode } from './problem-types.ts'

/** With every 503: seconds after which it may be over. */
export const retryAfter = { 'retry-after': '5' }

interface ProblemOptions {
  readonly faults?: readonly (Fault | LocatedFault)[]
  readonly headers?: Readonly<Record<string, string>>
  /** What there is instead: media types, methods, parameters. */
  readonly available?: readonly string[]
  /** What the request's document is written in, where its header fields say otherwise. */
  readonly notation?: DocumentNotation
}

/** What a plugin throws to refuse a request. `detail` is for the client: it names the thing and what to do. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: HttpProblemCode
  readonly faults: readonly (Fault | LocatedFault)[]
  readonly headers: Readonly<Record<string, string>>
  readonly available: readonly string[] | undefined
  readonly notation: DocumentNotation | undefined

  constructor(code: HttpProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail)
    this.code = code
    this.faults = options.faults ?? []
    this.headers = options.headers ?? {}
    this.available = options.available
    this.notation = options.notation
  }
}
