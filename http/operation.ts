import type { FastifyRequest } from 'fastify'
import { Problem } from './problem.ts'

/** The operation that a request asks for. A machine says it by its method and header fields, a browser by fields of the form that it posts. */
export interface Operation {
  readonly method: string
  readonly ifMatch: string | undefined
  readonly idempotencyKey: string | undefined
  /**
   * The customer for whom the page was shown. If that person has been signed out since, the request is refused instead of becoming
   * a guest's.
   */
  readonly customer: string | undefined
  /** Whether a repeated write succeeds although If-Match fails. This is true for forms, because a person may press a button twice. */
  readonly mayRepeat: boolean
  /** Whether a document without lines is a mistake. It is one if the page's form asks for lines. */
  readonly mustNameLines: boolean
  /** The Prefer header. It is empty for forms, because a person gets the whole result as a page. */
  readonly prefer: string
}

/**
 * @param form the fields that a browser posted
 * @throws Problem `malformed-request`
 */
export function operationOf({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>, form: URLSearchParams | undefined): Operation {
  const field = (name: string) => form?.get(name) || undefined
  const customer = headers['tradepost-customer']
  return {
    method: form?.get('_method') ?? method,
    ifMatch: field('_if-match') ?? headers['if-match'],
    idempotencyKey: headers['idempotency-key']?.toString() ?? field('_idempotency-key'),
    customer: customer === undefined ? field('_customer') : decodeCustomer(String(customer)),
    mayRepeat: form !== undefined,
    mustNameLines: form?.has('_lines') ?? false,
    prefer: form ? '' : (headers['prefer']?.toString() ?? '')
  }
}

/** The page's script percent-encodes the customer: a header field holds ISO 8859-1 at most. */
function decodeCustomer(header: string): string {
  try {
    return decodeURIComponent(header)
  } catch {
    throw new Problem('malformed-request', 'Tradepost-Customer must be percent-encoded UTF-8.')
  }
}
