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

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const forms = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/
]

/** Parses an HTTP-date in any of its three forms (RFC 9110 section 5.6.7) to milliseconds since the epoch. */
export function parseHttpDate(text: string): number | undefined {
  for (const form of forms) {
    const { day = '', month = '', year = '', time = '' } = form.exec(text)?.groups ?? {}
    if (!months.includes(month)) continue
    const century = year.length === 4 ? 0 : Number(year) + 2000 > new Date().getUTCFullYear() + 50 ? 1900 : 2000
    const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
    const midnight = Date.UTC(Number(year) + century, months.indexOf(month), Number(day))
    const exists = hours < 24 && minutes < 60 && seconds < 61 && new Date(midnight).getUTCDate() === Number(day)
    return exists ? midnight + ((hours * 60 + minutes) * 60 + seconds) * 1000 : undefined
  }
  return undefined
}
