import { shorten } from '../schemas/shorten.ts'

// XML 1.0 section 2.3, NameStartChar and NameChar. Characters beyond the BMP are matched by their surrogates.
const nameStart =
  ':A-Z_a-z\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uDB7F\\uDC00-\\uDFFF\\uF900-\\uFDCF\\uFDF0-\\uFFFD'
const nameRest = `${nameStart}\\-.0-9\\xB7\\u0300-\\u036F\\u203F\\u2040`
const space = '[ \\t\\r\\n]'

export const name = new RegExp(`[${nameStart}][${nameRest}]*`, 'y')
export const target = new RegExp(`[${nameStart.slice(1)}][${nameRest.slice(1)}]*(?=${space}|\\?>)`, 'y')
export const attribute = new RegExp(`${space}+([${nameStart}][${nameRest}]*)${space}*=${space}*("[^<"]*"|'[^<']*')`, 'y')
export const tagEnd = new RegExp(`${space}*(\\/?)>`, 'y')
export const endTag = new RegExp(`<\\/([^ \\t\\r\\n<>]+)${space}*>`, 'y')

/** The ends of comments, CDATA sections and processing instructions. They can contain the signs of markup without being it. */
export const closings: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>', '<?': '?>' }

/**
 * The offset after the comment, CDATA section or processing instruction that starts at an offset. One that does not end reaches to the
 * end of the text. Undefined: none starts there.
 */
export function afterSection(xml: string, at: number): number | undefined {
  for (const [opening, closing] of Object.entries(closings)) {
    if (!xml.startsWith(opening, at)) continue
    const end = xml.indexOf(closing, at + opening.length)
    return end < 0 ? xml.length : end + closing.length
  }
  return undefined
}

export function match(pattern: RegExp, xml: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(xml)
}

/**
 * The error for a tag with text that is neither an attribute nor the end of the tag.
 * @param rest the text from the error to where the tag should have ended
 */
export function explainTagSyntax(element: string, rest: string): string {
  const [whole, own = '', equals, quote] = /^[ \t\r\n]*([^ \t\r\n=<>"'/&]+)[ \t\r\n]*(=?)[ \t\r\n]*(["']?)/.exec(rest) ?? []
  if (whole === undefined) return `The tag <${element}> is not closed by >, or contains something that is not an attribute.`
  if (!/^[ \t\r\n]/.test(rest)) return `The tag <${element}> needs white space before ${JSON.stringify(shorten(own))}.`
  const attribute = `The attribute "${shorten(own)}" of <${element}>`
  if (match(name, own, 0)?.[0] !== own) return `${attribute} has a name that XML does not allow.`
  if (!equals) return `${attribute} has no value: write name="value".`
  if (!quote) return `${attribute} has its value without quotes.`
  return `${attribute} has a < in its value, or a quote that is not closed; < must be written &lt;.`
}
