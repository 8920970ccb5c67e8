/** XML Schema's escapes, which differ from ECMA-262's (XSD 1.0 part 2, appendix F): inside of a class, and outside. */
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

/** What ECMA-262 with the flag `u` lets one escape, in a class or not. */
const alike = /[nrt\\|.?*+(){}[\]^$]/

/**
 * An XSD pattern as the ECMA-262 regular expression (flag `u`) that JSON Schema wants: anchored, since an XSD pattern
 * always speaks of the whole value.
 * @throws Error where the one cannot say what the other says: a schema may not say what would be described wrongly
 */
export function ecmaPattern(xsd: string): string {
  let inClass = false
  const translated = xsd.replace(/\\(.)|\[\^?|\]|-\[|[$^.]/gsu, (part, escaped?: string) => {
    if (escaped !== undefined) return translateEscape(escaped, inClass, xsd)
    if (part.includes('[')) {
      if (inClass) throw new Error(`the pattern ${xsd} has a class in a class, which ECMA-262 cannot say`)
      inClass = true
      return part
    }
    if (part === ']') inClass = false
    if (inClass || part === ']') return part
    // Literals in XSD, which has no anchors; and its dot matches all but CR and LF.
    return part === '.' ? '[^\\n\\r]' : `\\${part}`
  })
  return `^(?:${translated})$`
}

function translateEscape(escaped: string, inClass: boolean, xsd: string): string {
  const set = sets[escaped]
  if (set) return inClass ? set[0] : set[1]
  const outside = outsideOnly[escaped]
  if (outside && !inClass) return outside
  if (escaped === '-') return inClass ? '\\-' : '-'
  if (alike.test(escaped)) return `\\${escaped}`
  throw new Error(`the pattern ${xsd} has \\${escaped}, which is not translated here`)
}
