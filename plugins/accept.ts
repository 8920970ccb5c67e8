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
const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

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

/** Something that can be sent: the media types by which it can be asked for, best first. */
export interface Offer {
  readonly names: readonly string[]
  /** Another name for an earlier offer: sent to who asks for it, never to who takes anything. */
  readonly alias?: boolean
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

/**
 * The index of the best offer, or -1 when nothing is acceptable. The most specific range gives an offer its weight; on a
 * tie a type that was named beats one that a wildcard matched, then the earlier offer wins.
 */
export function choose(header: string | undefined, offers: readonly Offer[]): number {
  // Empty elements of a list are nothing (RFC 9110 section 5.6.1.2), and a list of nothing else says nothing.
  if (header === undefined || /^[\s,]*$/.test(header)) return 0
  const ranges = parseAccept(header)
  let best = { index: -1, q: 0, named: false }
  offers.forEach(({ names, alias = false }, index) => {
    for (const name of names) {
      let match = { q: 0, specificity: 0 }
      for (const range of ranges) {
        const how = specificity(range, name, alias)
        if (how > match.specificity) match = { q: range.q, specificity: how }
      }
      const byName = match.specificity >= named
      if (match.q > best.q || (match.q === best.q && match.q > 0 && byName && !best.named)) best = { index, q: match.q, named: byName }
    }
  })
  return best.index
}
