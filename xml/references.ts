import { isXmlText } from '../schemas/xml-characters.ts'

const reference = /&(?:#x([0-9a-fA-F]{1,8})|#([0-9]{1,10})|([^\s;&<]{1,64}));/y
/** A reference to a character with more digits than any needs. */
const longReference = /&#(?:x[0-9a-fA-F]{9,}|[0-9]{11,});/y
const predefined = new Set(['amp', 'lt', 'gt', 'quot', 'apos'])
const highestCodePoint = 0x10ffff

/** The first `&` that does not start a valid reference. Without a DOCTYPE only predefined entities and characters are valid. */
export function invalidReference(text: string): { readonly index: number; readonly detail: string } | undefined {
  for (let index = text.indexOf('&'); index >= 0; index = text.indexOf('&', index + 1)) {
    reference.lastIndex = index
    const [whole, hex, decimal, name] = reference.exec(text) ?? []
    if (whole === undefined || /^#/.test(name ?? '')) {
      longReference.lastIndex = index
      const detail = longReference.test(text)
        ? 'A reference to a character has too many digits. Leave out its leading zeros, as in &#233;.'
        : 'An & that starts no reference must be written as &amp;.'
      return { index, detail }
    }
    if (name !== undefined) {
      if (predefined.has(name)) continue
      return { index, detail: `There is no entity ${whole}: write the character itself, or its number such as &#233;.` }
    }
    const code = Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16)
    if (code > highestCodePoint || !isXmlText(String.fromCodePoint(code))) {
      return { index, detail: `${whole} refers to a character that XML does not allow.` }
    }
  }
  return undefined
}
