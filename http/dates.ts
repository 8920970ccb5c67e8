import { Problem } from './problem.ts'

/**
 * Reads a time of a query parameter, in milliseconds since the epoch. Date knows no leap seconds, so a leap second is read as the
 * second before it. A client that asks for changes since then misses nothing.
 * @throws Problem `malformed-request` when the text is not a time of RFC 3339 (section 5.6)
 */
export function readInstant(parameter: string, text: string): number {
  const isWhole = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text)
  const at = isWhole
    ? Date.parse(
        text
          .replace(/:60(?=[.Zz+-])/, ':59')
          .replace(' ', 'T')
          .toUpperCase()
      )
    : Number.NaN
  if (!Number.isNaN(at)) return at
  const detail = notAnInstant(parameter, text)
  throw new Problem('malformed-request', detail, { faults: [{ detail, path: parameter }] })
}

/** The detail of the problem for a text that is not a time. */
export function notAnInstant(parameter: string, text: string): string {
  const hint = / \d\d:\d\d$/.test(text) ? ' A + in a URI is a space: write %2B for it.' : ''
  return `${parameter} must be a time as RFC 3339 writes it, such as 2026-11-21T08:30:00Z.${hint}`
}
