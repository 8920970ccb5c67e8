/** The waits that a receiver asks for, and those after failures of the shop itself. */

import { parseHttpDate } from '../domain/http-date.ts'

const second = 1_000

/** Reads Retry-After: seconds, or a date (RFC 9110 section 10.2.3). @returns milliseconds from `now` */
export function readRetryAfter(field: string | undefined, now: number): number | undefined {
  if (field === undefined) return undefined
  const text = field.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * second
  const at = parseHttpDate(text)
  return at === undefined ? undefined : Math.max(0, at - now)
}

/** The wait after failures of the shop itself, in milliseconds. It doubles. @param count the failures in a row, from 1 */
export function backOff(count: number, { first, longest }: { readonly first: number; readonly longest: number }): number {
  return Math.min(longest, first * 2 ** (count - 1))
}
