/** One media range of an Accept header (RFC 9110 section 12.5.1). */
export interface MediaRange {
  readonly type: string
  readonly subtype: string
  readonly parameters: ReadonlyMap<string, string>
  readonly q: number
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const parameter = new RegExp(`^(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)")$`)
const mediaRange = new RegExp(`^(${token})/(${token})$`)
/** RFC 9110 section 12.4.2; and `.2`, as Java's HttpURLConnection wrote it before JDK 20. */
const weight = /^(?:0?\.\d{1,3}|0\.?|1(?:\.0{0,3})?)$/

/** Splits a field value at a separator outside of quoted strings, in one pass: a regular expression's would be quadratic. */
export function splitField(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let i = 0; i <= text.length; i++) {
    const character = text[i]
    if (quoted && character === '\\') i++
    else if (character === '"') quoted = !quoted
    if (i < text.length && (quoted || character !== separator)) continue
    const part = text.slice(start, i).trim()
    if (part !== '') parts.push(part)
    start = i + 1
  }
  return parts
}

/** The ranges of an Accept header; a malformed one is skipped. */
export function parseAccept(header: string): readonly MediaRange[] {
  return splitField(header, ',').flatMap((part) => {
    const [name = '', ...rest] = splitField(part, ';')
    const range = mediaRange.exec(name.toLowerCase())
    if (!range || (range[1] === '*' && range[2] !== '*')) return []
    const parameters = new Map<string, string>()
    let q = 1
    for (const one of rest) {
      const found = parameter.exec(one)
      if (!found) return []
      const key = found[1]?.toLowerCase() ?? ''
      const value = found[2] ?? found[3]?.replace(/\\(.)/g, '$1') ?? ''
      if (key !== 'q') {
        parameters.set(key, value.toLowerCase())
        continue
      }
      if (!weight.test(value)) return []
      q = Number(value)
      // What follows the weight are accept-ext parameters, which RFC 9110 no longer has.
      break
    }
    return [{ type: range[1] ?? '', subtype: range[2] ?? '', parameters, q }]
  })
}

/** Something that can be sent: its media type, then the others by which it can be asked for. A wildcard matches only the first. */
export interface Offer {
  readonly names: readonly string[]
  /** Another name for an earlier offer: sent to who asks for it, never to who takes anything. */
  readonly alias?: boolean
  /** Whether it is in the notation of the document that the request carries. */
  readonly own?: boolean
}

/** 0: no match; the higher, the more specific. A range's parameters must be those of the representation: its charset. */
function specificity(range: MediaRange, mediaType: string, alias: boolean): number {
  const [type, subtype] = mediaType.split('/')
  for (const [name, value] of range.parameters) if (name !== 'charset' || value !== 'utf-8') return 0
  if (range.type === '*') return alias ? 0 : 1
  if (range.type !== type) return 0
  if (range.subtype === '*') return 2
  return range.subtype === subtype ? 3 + range.parameters.size : 0
}

const named = 3
const page = 'text/html'

/** What Accept says of one offer. */
interface Weighed {
  readonly index: number
  readonly offer: Offer
  readonly q: number
  /** Whether a range names its media type, where others match by a wildcard. */
  readonly named: boolean
}

function weigh(ranges: readonly MediaRange[], offer: Offer, index: number): Weighed {
  let best: Weighed = { index, offer, q: 0, named: false }
  offer.names.forEach((name, i) => {
    let match = { q: 0, specificity: 0 }
    for (const range of ranges) {
      const how = specificity(range, name, offer.alias ?? false)
      if (how > match.specificity && (i === 0 || how >= named)) match = { q: range.q, specificity: how }
    }
    const one = { index, offer, q: match.q, named: match.specificity >= named }
    if (isBetter(one, best)) best = one
  })
  return best
}

function isBetter(one: Weighed, other: Weighed): boolean {
  return one.q > other.q || (one.q === other.q && one.q > 0 && one.named && !other.named)
}

/** The one of the highest weight; on a tie one that was named, then the earliest. */
function bestOf(weighed: readonly Weighed[]): Weighed | undefined {
  return weighed.reduce<Weighed | undefined>((best, one) => (one.q > 0 && (!best || isBetter(one, best)) ? one : best), undefined)
}

/**
 * Whether Accept ranks an offer above the request's own notation: by name, and by a higher weight. HTTP libraries list
 * text/html first, unasked, and take anything after it (Java: `text/html, image/gif, image/jpeg` and a wildcard of 0.2):
 * where only a wildcard takes the own notation, that is no wish for a page. A browser's list names XML too.
 */
function ranksAbove(one: Weighed, own: Weighed): boolean {
  return one.named && one.q > own.q && (own.named || one.offer.names[0] !== page)
}

/**
 * The index of the best offer, or -1 when nothing is acceptable. The most specific range gives an offer its weight (RFC
 * 9110 section 12.5.1). An acceptable offer in the request's own notation is the best, unless another ranks above it.
 * Otherwise the highest weight wins; on a tie a type that was named beats one that a wildcard matched, then the earlier
 * offer wins.
 */
export function choose(header: string | undefined, offers: readonly Offer[]): number {
  // Empty elements of a list are nothing (RFC 9110 section 5.6.1.2), and a list of nothing else says nothing.
  const ranges = parseAccept(header === undefined || /^[\s,]*$/.test(header) ? '*/*' : header)
  const weighed = offers.map((offer, index) => weigh(ranges, offer, index))
  const own = bestOf(weighed.filter(({ offer }) => offer.own))
  if (!own) return bestOf(weighed)?.index ?? -1
  return (bestOf(weighed.filter((one) => !one.offer.own && ranksAbove(one, own))) ?? own).index
}
