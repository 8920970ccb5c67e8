import type { FastifyRequest } from 'fastify'
import { formMediaType } from '../schemas/form.ts'

const formContentType = new RegExp(`^\\s*${formMediaType}\\s*(?:;|$)`, 'i')

/** Whether the Content-Type says that the body is an HTML form. */
export function isForm(request: Pick<FastifyRequest, 'headers'>): boolean {
  return formContentType.test(request.headers['content-type'] ?? '')
}

/** A person's form as it was sent. */
export interface TypedForm {
  /** All fields that a page has room for, with those whose names start with `_`. */
  readonly fields: URLSearchParams
  /** Whether some fields did not fit. */
  readonly isCut: boolean
  /** The number of further lines that a `_more` button asks for; 0 only looks up the products that were entered. */
  readonly moreRows?: number
}

/** The most lines that a page adds to a form at once. */
const mostRows = 50

/** The form that the request posts. Undefined: it posts none. */
export function typedForm(request: FastifyRequest): TypedForm | undefined {
  const fields = request.form()
  if (!fields) return undefined
  const moreRows = Number(fields.get('_more') ?? Number.NaN)
  return { fields, isCut: request.submission?.fields?.isCut ?? false, ...(moreRows >= 0 && moreRows <= mostRows ? { moreRows } : {}) }
}
