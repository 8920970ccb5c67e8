import { LRUCache } from 'lru-cache'

/** One media range of an Accept header (RFC 9110 section 12.5.1). */
export interface MediaRange {
  readonly type: string
  readonly subtype: string
  readonly parameters: ReadonlyMap<string, string>
  readonly q: number
}

/** A token (RFC 9110 section 5.6.2), as part of a regular expression. */
export const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const parameter = new RegExp(`^(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)")$`)
const mediaRange = new RegExp(`^(${token})/(${token})$`)
/** A weight of RFC 9110 section 12.4.2, or one such as `.2`, as Java's HttpURLConnection wrote it before JDK 20. */
const weight = /^(?:0?\.\d{1,3}|0\.?|1(?:\.0{0,3})?)$/

/** Splits a field value at a separator outside of quoted strings. One pass is linear; a regular expression would be quadratic. */
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

/** Browsers send eight media ranges. To choose among thousands would take several milliseconds for each request. */
const mostRanges = 100

/** The first media ranges of an Accept header, up to `mostRanges`. Malformed ones are skipped. */
export function parseAccept(header: string): readonly MediaRange[] {
  const parts = splitField(header, ',').slice(0, mostRanges)
  return parts.flatMap((part) => {
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
      // After the weight come accept-ext parameters, which RFC 9110 has removed.
      break
    }
    return [{ type: range[1] ?? '', subtype: range[2] ?? '', parameters, q }]
  })
}

/** A representation on offer. `names` has its media type, then its alternative media types. A wildcard matches only the first. */
export interface Offer {
  readonly names: readonly string[]
  /** Another name for an earlier offer. It is sent only to clients that name it, never for a wildcard. */
  readonly alias?: boolean
  /** Whether it has the notation of the request's own document. */
  readonly own?: boolean
}

/** The specificity with which a range matches a media type; 0 is no match. The only parameter that can match is charset=utf-8. */
function specificity(range: MediaRange, mediaType: string, alias: boolean): number {
  const [type, subtype] = mediaType.split('/')
  for (const [name, value] of range.parameters) if (name !== 'charset' || value !== 'utf-8') return 0
  if (range.type === '*') return alias ? 0 : 1
  if (range.type !== type) return 0
  if (range.subtype === '*') return 2
  return range.subtype === subtype ? 3 + range.parameters.size : 0
}

const exactMatch = 3
const htmlPage = 'text/html'

/** An offer with the weight that Accept gives it. */
interface WeighedOffer {
  readonly index: number
  readonly offer: Offer
  readonly q: number
  /** Whether a range names its media type, instead of matching by a wildcard. */
  readonly named: boolean
}

function weigh(ranges: readonly MediaRange[], offer: Offer, index: number): WeighedOffer {
  let best: WeighedOffer = { index, offer, q: 0, named: false }
  offer.names.forEach((name, i) => {
    let match = { q: 0, specificity: 0 }
    for (const range of ranges) {
      const how = specificity(range, name, offer.alias ?? false)
      if (how > match.specificity && (i === 0 || how >= exactMatch)) match = { q: range.q, specificity: how }
    }
    const one = { index, offer, q: match.q, named: match.specificity >= exactMatch }
    if (isBetter(one, best)) best = one
  })
  return best
}

function isBetter(one: WeighedOffer, other: WeighedOffer): boolean {
  return one.q > other.q || (one.q === other.q && one.q > 0 && one.named && !other.named)
}

/** The offer with the highest weight. On a tie a named one wins, then the earliest. */
function bestOf(weighed: readonly WeighedOffer[]): WeighedOffer | undefined {
  return weighed.reduce<WeighedOffer | undefined>((best, one) => (one.q > 0 && (!best || isBetter(one, best)) ? one : best), undefined)
}

/**
 * Whether Accept names an offer with a higher weight than the request's own notation. HTML needs more: HTTP libraries list
 * text/html by default, followed by a wildcard (Java: `text/html, image/gif, image/jpeg` and a wildcard of 0.2). So
 * HTML wins only if Accept also names the own notation, as browsers do with XML.
 */
function ranksAbove(one: WeighedOffer, own: WeighedOffer): boolean {
  return one.named && one.q > own.q && (own.named || one.offer.names[0] !== htmlPage)
}

/**
 * The index of the best offer, or -1 when none is acceptable. The most specific range gives an offer its weight (RFC 9110
 * section 12.5.1). An acceptable offer in the request's own notation wins, unless another ranks above it. Otherwise the
 * highest weight wins. On a tie, a named type beats a wildcard match, and then the earlier offer wins.
 */
export function choose(header: string | undefined, offers: readonly Offer[]): number {
  // Empty list elements are ignored (RFC 9110 section 5.6.1.2). A header without any others counts as absent.
  const ranges = parseAccept(header === undefined || /^[\s,]*$/.test(header) ? '*/*' : header)
  const weighed = offers.map((offer, index) => weigh(ranges, offer, index))
  const own = bestOf(weighed.filter(({ offer }) => offer.own))
  if (!own) return bestOf(weighed)?.index ?? -1
  return (bestOf(weighed.filter((one) => !one.offer.own && ranksAbove(one, own))) ?? own).index
}

/** `choose` for the same offers. */
export type Chooser = (header: string | undefined) => number

/** Limits of a chooser's memory: the number of Accept headers, and the characters of each. */
const remembered = { headers: 256, length: 256 } as const

/** Clients send few different Accept headers, so the choice for each is remembered, within the bounds of `remembered`. */
export function makeChooser(offers: readonly Offer[]): Chooser {
  const chosenBefore = new LRUCache<string, number>({ max: remembered.headers })
  const anything = choose(undefined, offers)
  return (header) => {
    if (header === undefined) return anything
    if (header.length > remembered.length) return choose(header, offers)
    const known = chosenBefore.get(header)
    if (known !== undefined) return known
    const chosen = choose(header, offers)
    chosenBefore.set(header, chosen)
    return chosen
  }
}
