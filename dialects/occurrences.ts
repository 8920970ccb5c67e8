/** Offsets (UTF-16 code units) between which a text holds a secret or a card number. */
export interface Occurrence {
  readonly from: number
  readonly to: number
}

/** A searched value. `find` is linear in the text. */
export interface Needle {
  /** The least length of what is found. */
  readonly length: number
  /** Occurrences of one value do not overlap. */
  find(text: string): readonly Occurrence[]
}

/** The most values that are searched for. It is far above the needs of any order, which has one or two, and bounds the time of the search. */
export const maxSecretValues = 8

/** A shorter value would be found in ids, quantities and dates that only look like it. */
export const minLengthInValues = 8

/** Card numbers have 12 to 19 digits. The upper bound keeps the regular expression small. */
const cardNumber = /^\d{8,32}$/

/** A card number is also found when blanks or hyphens separate its digits. */
export function makeNeedle(value: string): Needle {
  const digits = value.replace(/[ -]/g, '')
  if (cardNumber.test(digits)) return { length: digits.length, find: findDigits(digits) }
  return { length: value.length, find: findLiteral(value) }
}

/** Blanks and hyphens. */
const separators = new Set([0x20, 0x2d])

/** Finds digits that single separators may divide. Linear like `findLiteral`. */
function findDigits(digits: string): Needle['find'] {
  const fallback = fallbacks(digits)
  return (text) => {
    const found: Occurrence[] = []
    let matched = 0
    let wasSeparator = false
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const isSeparator = separators.has(code)
      if (isSeparator && wasSeparator) matched = 0
      if (!isSeparator) matched = advance(digits, fallback, matched, code)
      wasSeparator = isSeparator
      if (isSeparator || matched < digits.length) continue
      found.push({ from: startOf(text, at + 1, digits.length), to: at + 1 })
      matched = 0
    }
    return found
  }
}

/** The offset at which so many digits begin that end before `end`. */
function startOf(text: string, end: number, digits: number): number {
  let from = end
  for (let left = digits; left > 0; from--) if (!separators.has(text.charCodeAt(from - 1))) left--
  return from
}

/** `indexOf` searches for this many characters of a value. Its time can be the product of both lengths, so this length is small. */
const maxHead = 16

/** The search of Knuth, Morris and Pratt. It is linear, because the sender chooses both texts. `indexOf` skips text that cannot start the value. */
function findLiteral(value: string): Needle['find'] {
  const fallback = fallbacks(value)
  const head = value.slice(0, maxHead)
  return (text) => {
    const found: Occurrence[] = []
    let matched = 0
    for (let at = 0; at < text.length; at++) {
      if (matched === 0) at = text.indexOf(head, at)
      if (at < 0) return found
      matched = advance(value, fallback, matched, text.charCodeAt(at))
      if (matched < value.length) continue
      found.push({ from: at + 1 - matched, to: at + 1 })
      matched = 0
    }
    return found
  }
}

/** The number of characters of `value` that match after one more character of the text. */
function advance(value: string, fallback: Int32Array, matched: number, code: number): number {
  while (matched > 0 && value.charCodeAt(matched) !== code) matched = fallback[matched - 1] ?? 0
  return value.charCodeAt(matched) === code ? matched + 1 : 0
}

function fallbacks(value: string): Int32Array {
  const fallback = new Int32Array(value.length)
  for (let at = 1; at < value.length; at++) fallback[at] = advance(value, fallback, fallback[at - 1] ?? 0, value.charCodeAt(at))
  return fallback
}

/** Replaces every character of the found values by `*`. */
export function mask(text: string, needles: readonly Needle[]): string {
  // Most texts of an order are shorter than its secrets.
  const possible = needles.filter(({ length }) => length <= text.length)
  if (possible.length === 0) return text
  return maskRanges(
    text,
    possible.flatMap((needle) => needle.find(text))
  )
}

/** Replaces every character of the ranges by `*`. */
export function maskRanges(text: string, ranges: readonly Occurrence[]): string {
  if (ranges.length === 0) return text
  let masked = ''
  let at = 0
  for (const { from, to } of merge(ranges)) {
    masked += text.slice(at, from) + '*'.repeat(to - from)
    at = to
  }
  return masked + text.slice(at)
}

/** Sorts occurrences and joins those that overlap. */
export function merge(occurrences: readonly Occurrence[]): readonly Occurrence[] {
  const merged: { from: number; to: number }[] = []
  for (const { from, to } of [...occurrences].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}
