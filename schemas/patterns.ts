/** XSD escapes that differ from ECMA-262's (XSD 1.0 part 2, appendix F), translated inside and outside of a character class. */
const sets: Readonly<Record<string, readonly [inClass: string, alone: string]>> = {
  s: [' \\t\\n\\r', '[ \\t\\n\\r]'],
  d: ['\\p{Nd}', '\\p{Nd}']
}
const outsideOnly: Readonly<Record<string, string>> = {
  S: '[^ \\t\\n\\r]',
  D: '\\P{Nd}',
  w: '[^\\p{P}\\p{Z}\\p{C}]',
  W: '[\\p{P}\\p{Z}\\p{C}]'
}

/** Characters that may be escaped in both, inside and outside of a class (ECMA-262 with the flag `u`). */
const sharedEscapes = /[nrt\\|.?*+(){}[\]^$]/

/**
 * Translates an XSD pattern to an ECMA-262 regular expression (flag `u`), as JSON Schema has them. The result has anchors, because an
 * XSD pattern always matches the whole value.
 * @throws Error when there is no equivalent, so that no schema is described wrongly
 */
export function ecmaPattern(xsd: string): string {
  let inClass = false
  const translated = xsd.replace(/\\(.)|\[\^?|\]|-\[|[$^.]/gsu, (part, escaped?: string) => {
    if (escaped !== undefined) return translateEscape(escaped, inClass, xsd)
    if (part.includes('[')) {
      if (inClass) throw new Error(`the pattern ${xsd} has a class in a class, which ECMA-262 does not support`)
      inClass = true
      return part
    }
    if (part === ']') inClass = false
    if (inClass || part === ']') return part
    // `^` and `$` are literals in XSD, which has no anchors. Its dot matches everything except CR and LF.
    return part === '.' ? '[^\\n\\r]' : `\\${part}`
  })
  return `^(?:${translated})$`
}

/** One for each pattern of the schemas. */
const matchers = new Map<string, RegExp>()

/** Whether a text matches one of the patterns of an XSD restriction, or it has none. */
export function matchesPatterns(text: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((xsd) => matcherOf(xsd).test(text))
}

function matcherOf(xsd: string): RegExp {
  const matcher = matchers.get(xsd) ?? new RegExp(ecmaPattern(xsd), 'u')
  matchers.set(xsd, matcher)
  return matcher
}

function translateEscape(escaped: string, inClass: boolean, xsd: string): string {
  const set = sets[escaped]
  if (set) return inClass ? set[0] : set[1]
  const outside = outsideOnly[escaped]
  if (outside && !inClass) return outside
  if (escaped === '-') return inClass ? '\\-' : '-'
  if (sharedEscapes.test(escaped)) return `\\${escaped}`
  throw new Error(`the pattern ${xsd} has \\${escaped}, which has no translation`)
}
