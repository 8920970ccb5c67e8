import type { SecretRange } from '../buyer-document.ts'
import type { XmlElement } from '../xml-element.ts'

/** A card's number and its security code. */
const secrets = ['PrimaryAccountNumberID', 'CV2ID']

/** Where a document holds the number or the security code of a card, wherever it stands. */
export function cardNumbers(root: XmlElement, source: string): readonly SecretRange[] {
  // Nearly no document has any, and to search its text is faster than to visit all elements.
  if (!secrets.some((name) => source.includes(name))) return []
  const ranges: SecretRange[] = []
  const open = [root]
  for (let element = open.pop(); element; element = open.pop()) {
    open.push(...element.children)
    if (!secrets.includes(element.local)) continue
    const { end, after } = element.tag
    const from = end + 1
    // An empty-element tag ends with the element: no end tag follows.
    const to = source.startsWith('/>', end) ? from : source.lastIndexOf('</', after - 1)
    if (to > from) ranges.push({ from, to })
  }
  return ranges.sort((a, b) => a.from - b.from)
}
