/** The errors of a refused order form, and the fields that show them. */

import type { LocatedFault } from '../../schemas/document.ts'
import { uris } from '../links.ts'
import type { ProblemDocument } from '../problem.ts'
import { placeErrors, type Values } from './fields.ts'
import { label } from './format.ts'
import { isAllBlank, type Lines, lineOf } from './order-form-lines.ts'

/** Messages for missing values. The script uses them too. */
export const missingMessages = {
  line: 'The order has no line yet: choose a product and say how many.',
  product: 'Choose a product for this line, or clear the rest of it.',
  quantity: 'Say how many of this product.'
}

/** The error of a product that was looked up and not found. The script uses it too. */
export const notFound = 'There is no product with this number.'

/** The notice above a list of errors. It replaces the problem's title and detail, which are for senders of documents. The script uses it too. */
export const invalidNotice = {
  codes: ['invalid-document', 'invalid-order'],
  title: 'The order has errors',
  detail: 'Nothing was stored. Correct what is listed here, then send the order again.'
}

/** The notice for an idempotency key that placed another order. The script uses it too. */
export const reusedNotice = {
  codes: ['idempotency-key-reused'],
  title: 'This form was sent before',
  detail: 'It placed an order with other content. To place this order as well, send the form again.'
}

/** After these problems the same idempotency key would be refused again, so the form gets a new one. The script uses them too. */
export const spentKeyCodes: readonly string[] = [...reusedNotice.codes, 'malformed-request']

/**
 * After these problems the order may be there all the same, because the shop itself failed, or the first request is still running.
 * The script uses them too.
 */
export const unsureProblems = { codes: ['idempotency-in-flight'], leastStatus: 500 }

export function mayBePlaced(problem: ProblemDocument, base: string): boolean {
  return problem.status >= unsureProblems.leastStatus || isOneOf(problem, unsureProblems.codes, base)
}

/** Whether a problem has one of the codes. */
export function isOneOf({ type }: Pick<ProblemDocument, 'type'>, codes: readonly string[], base: string): boolean {
  return codes.some((code) => type === uris(base).problem(code))
}

/** Replaces the schema's fault of an incomplete line by the page's own message. */
function explainIncomplete(fault: LocatedFault, values: Values): LocatedFault {
  const line = /^item\.\d+$/.exec(fault.path ?? '')?.[0]
  if (line === undefined || fault.code !== undefined) return fault
  const has = (name: string) => (values.get(`${line}.${name}`) ?? '').trim() !== ''
  if (!has('product-id') && !has('gtin')) return { detail: missingMessages.product, path: `${line}.product-id` }
  return has('quantity') ? fault : { detail: missingMessages.quantity, path: `${line}.quantity` }
}

/** Finds the field that shows a fault. A fault of a line or a party is shown at one of its fields. One of the whole order has no field. */
function fieldFinder(names: readonly string[], values: Values) {
  return (path: string): string | undefined => {
    const under = names.filter((name) => name.startsWith(`${path}.`))
    return (
      names.find((name) => name === path) ??
      under.find((name) => !values.get(name)?.trim()) ??
      under[0] ??
      names.find((name) => path.startsWith(`${name}.`)) ??
      names.find((name) => lineOf(name) !== undefined && lineOf(name) === lineOf(path))
    )
  }
}

/**
 * The errors of a refused form by field, and in the order of the page, each with its place: its line, or the party that it is about.
 * @param shown the names of the fields that the page shows, in its order
 */
export function errorsOf(values: Values, faults: readonly LocatedFault[], lines: Lines, shown: readonly string[]) {
  const isEmpty = isAllBlank(lines) && faults.some(({ path }) => (path ?? '') === '')
  const explained = isEmpty
    ? [{ detail: missingMessages.line, path: shown[0] ?? '' }]
    : faults.map((fault) => explainIncomplete(fault, values))
  const errors = placeErrors(explained, fieldFinder(shown, values))
  const numbers = [...lines.keys()]
  const inPageOrder = errors.all.toSorted((a, b) => shown.indexOf(a.field ?? '') - shown.indexOf(b.field ?? ''))
  const placeOf = (field = ''): string | undefined => {
    const line = lineOf(field)
    if (line !== undefined) return `Line ${numbers.indexOf(line) + 1}`
    const party = /^([a-z-]+)\.[a-z]/.exec(field)?.[1]
    return party && label(party)
  }
  return { errors, listed: inPageOrder.map((error) => ({ ...error, place: isEmpty ? undefined : placeOf(error.field) })) }
}
