import type { FastifyError, FastifyRequest } from 'fastify'
import { defined } from '../domain/defined.ts'
import { DomainError, PositionError } from '../domain/errors.ts'
import { uris } from '../representations/links.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { toXmlText } from '../schemas/xml-characters.ts'
import type { DocumentNotation } from './notation.ts'
import { notACursor } from './paging.ts'
import { bodyTooLarge, Problem } from './problem.ts'
import { codesByStatus, type ProblemCode } from './problem-codes.ts'
import { shortDetail, shortFault, shortInstance } from './problem-size.ts'
import { problemTypes } from './problem-types.ts'

/** Error codes of Fastify and its plugins, as the service's problems. */
const fastifyCodes: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_MAX_PARAM_LENGTH: 'not-found'
}

/** An error that refuses a request. */
export type RequestError = FastifyError | DomainError | Problem | PositionError

/** The content of the problem that the client gets. */
export interface ProblemContent {
  readonly code: ProblemCode
  readonly detail: string
  readonly faults?: readonly LocatedFault[]
  readonly headers?: Readonly<Record<string, string>>
  readonly available?: readonly string[] | undefined
  readonly orderId?: string
  readonly productId?: string
  readonly notation?: DocumentNotation | undefined
}

function writableFault(fault: LocatedFault): LocatedFault {
  const { detail, path, item } = shortFault(fault)
  return {
    ...fault,
    detail: toXmlText(detail),
    ...defined({ path: path && toXmlText(path), item: item && toXmlText(item) })
  }
}

/** The content that the client gets for an error, with the faults as the error has them. The log gets the error itself. */
export function contentOf(
  error: RequestError,
  { id, method, headers }: Pick<FastifyRequest, 'id' | 'method' | 'headers'>,
  bodyLimit: number
): ProblemContent {
  const known = error instanceof PositionError ? notACursor() : error
  if (known instanceof DomainError) {
    const { code, message, faults, orderId, productId } = known
    return { code, detail: message, faults, ...defined({ orderId, productId }) }
  }
  if (known instanceof Problem) {
    const { code, message, faults, headers, available, notation } = known
    return { code, detail: message, faults, headers, available, notation }
  }
  const status = known.statusCode ?? 500
  const code = fastifyCodes[known.code] ?? codesByStatus[status] ?? (status >= 400 && status < 500 ? 'malformed-request' : 'internal-error')
  if (code === 'body-too-large') return { code, detail: bodyTooLarge(method, bodyLimit).message }
  if (code === 'unsupported-media-type') {
    const sent = headers['content-type']
    return {
      code,
      detail:
        sent === undefined
          ? 'The body has no Content-Type.'
          : `${JSON.stringify(sent)} is not supported here. Accept-Post lists the media types that are.`
    }
  }
  if (code === 'internal-error') return { code, detail: `Something went wrong here. It was logged under the request id ${id}.` }
  return { code, detail: status < 500 ? `${known.message.replace(/\.?$/, '.')}` : problemTypes[code].explanation }
}

/** Advice that names a URI of the service. The domain does not know any. */
function adviceFor(code: ProblemCode, base: string): string | undefined {
  if (code !== 'product-not-found') return undefined
  const { products } = uris(base)
  return `Look the id up in ${products}, or search there: ${products}?q=bolt.`
}

/** The problem document for a request to `uri`. @param base the path of BASE_URL */
export function problemDocument(
  { code, detail, orderId, available, faults = [] }: ProblemContent,
  uri: string,
  base: string
): ProblemDocument {
  const { status, title } = problemTypes[code]
  const advice = adviceFor(code, base)
  return {
    type: uris(base).problem(code),
    title,
    status,
    detail: toXmlText(shortDetail(detail)),
    ...(advice === undefined ? {} : { advice }),
    instance: shortInstance(uri),
    ...(orderId === undefined ? {} : { order: uris(base).order(orderId) }),
    ...(available ? { available } : {}),
    ...(faults.length > 0 ? { errors: faults.map(writableFault) } : {})
  }
}

/** Whether the service refused the request by its own decision, also with a 503. Anything else is an error to log: a database's has a cause. */
export function isRefusal(error: Error, code: ProblemCode): boolean {
  return problemTypes[code].status < 500 || error instanceof Problem || (code === 'store-overloaded' && error.cause === undefined)
}
