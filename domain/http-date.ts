/** HTTP's dates: clients send them in conditions, and the receivers of webhooks in Retry-After. */

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
