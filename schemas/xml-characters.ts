/** The characters that an XML document can hold (XML 1.0 section 2.2, Char). A surrogate without its other half is none of them. */

const illegal = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const everyIllegal = new RegExp(illegal, 'gu')

/** The first character of a text that XML cannot hold, by its code point. */
export function illegalCharacter(text: string): { readonly index: number; readonly name: string } | undefined {
  const found = illegal.exec(text)
  if (!found) return undefined
  return { index: found.index, name: `U+${(found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}` }
}

export function isXmlText(text: string): boolean {
  return !illegal.test(text)
}

/** A text as XML can hold it. */
export function toXmlText(text: string): string {
  return text.replace(everyIllegal, '\ufffd')
}
