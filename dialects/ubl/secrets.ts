import { maskMarkup, namesSecrets } from '../hidden-secrets.ts'
import { makeNeedle, mask, maxSecretValues, merge, minLengthInValues, type Occurrence } from '../occurrences.ts'
import { ublSecretNames } from '../secret-names.ts'
import { contentRange, trimmedText, type XmlElement } from '../xml-element.ts'

export interface Cards {
  /** The places of card numbers and security codes in the document. Sorted, without overlaps. */
  readonly ranges: readonly Occurrence[]
  /** The document has more than `maxSecretValues`. The rest of them is masked only in its own place. */
  readonly isOverLimit: boolean
  /** The same elements without the numbers, wherever they are repeated. */
  masked(root: XmlElement): XmlElement
}

const noCards: Cards = { ranges: [], isOverLimit: false, masked: (root) => root }

/** Finds the cards of a document, and where else it repeats their numbers. */
export function findCards(root: XmlElement, source: string): Cards {
  // Nearly no document has any, and to search its text is faster than to visit all elements.
  if (!namesSecrets(source)) return noCards
  const ranges: Occurrence[] = []
  const numbers = new Set<string>()
  const open = [root]
  for (let element = open.pop(); element; element = open.pop()) {
    // A spread would pass each child as an argument, and a document can have more of them than a call can take.
    for (const child of element.children) open.push(child)
    if (!ublSecretNames.includes(element.local)) continue
    const range = contentRange(element, source)
    if (range.to > range.from) ranges.push(range)
    const number = trimmedText(element)
    if (number !== undefined && number.length >= minLengthInValues) numbers.add(number)
  }
  const needles = [...numbers].slice(0, maxSecretValues).map(makeNeedle)
  const masked = (text: string) => maskMarkup(mask(text, needles))
  const maskAttributes = (attributes: XmlElement['attributes']): XmlElement['attributes'] => {
    const entries = Object.entries(attributes)
    const values = entries.map(([, value]) => masked(value))
    if (entries.every(([, value], i) => value === values[i])) return attributes
    return Object.fromEntries(entries.map(([name], i) => [name, values[i] ?? '']))
  }
  const maskChildren = (children: XmlElement['children']): XmlElement['children'] => {
    const copies = children.map(maskAll)
    return children.every((child, i) => child === copies[i]) ? children : copies
  }
  // An element without a number is not copied: a large document has too many of them. UBL has no mixed content. `mixed` is left out,
  // because a number can be divided between its parts.
  const maskAll = (element: XmlElement): XmlElement => {
    const { mixed, ...others } = element
    const [text, attributes, children] = [masked(element.text), maskAttributes(element.attributes), maskChildren(element.children)]
    const isSame = text === element.text && attributes === element.attributes && children === element.children && mixed === undefined
    return isSame ? element : { ...others, text, attributes, children }
  }
  return {
    ranges: merge([...ranges, ...needles.flatMap((needle) => needle.find(source))]),
    isOverLimit: numbers.size > maxSecretValues,
    masked: maskAll
  }
}
