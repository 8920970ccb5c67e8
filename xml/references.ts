const reference = /&(?:#x([0-9a-fA-F]{1,8})|#([0-9]{1,10})|([^\s;&<]{1,64}));/y
const predefined = new Set(['amp', 'lt', 'gt', 'quot', 'apos'])

/** XML 1.0 section 2.2, Char. */
function isXmlCharacter(code: number): boolean {
  return (
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff)
  )
}

/** The first `&` that does not start a valid reference. Without a DOCTYPE only predefined entities and characters are valid. */
export function invalidReference(text: string): { readonly index: number; readonly detail: string } | undefined {
  for (let index = text.indexOf('&'); index >= 0; index = text.indexOf('&', index + 1)) {
    reference.lastIndex = index
    const [whole, hex, decimal, name] = reference.exec(text) ?? []
    if (whole === undefined || /^#/.test(name ?? '')) return { index, detail: 'An & that starts no reference must be written as &amp;.' }
    if (name !== undefined) {
      if (predefined.has(name)) continue
      return { index, detail: `There is no entity ${whole}: write the character itself, or its number such as &#233;.` }
    }
    if (!isXmlCharacter(Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16))) {
      return { index, detail: `${whole} refers to a character that XML does not allow.` }
    }
  }
  return undefined
}

const illegal = /[^\t\n\r\x20-\ufffd]/

/** The first character that XML does not allow, by its code point. */
export function illegalCharacter(text: string): { readonly index: number; readonly name: string } | undefined {
  const found = illegal.exec(text)
  if (!found) return undefined
  return { index: found.index, name: `U+${found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}` }
}
