import type { Sourced } from '../buyer-document.ts'
import { attributeOf, trimmedText, type XmlElement } from '../xml-element.ts'
import type { Secrets } from './secrets.ts'

/** Reads values of a document. None of them holds a secret of the document. */
export interface Values {
  /** The text of an element. Undefined for an element that is absent or empty. */
  text(element: XmlElement | undefined): Sourced | undefined
  attribute(element: XmlElement | undefined, name: string): Sourced | undefined
  /** The texts of several elements as one value. Empty elements are left out. */
  joined(elements: readonly (XmlElement | undefined)[], separator: string): Sourced | undefined
  /** A value for a note or an extension. */
  prose(text: string, from: XmlElement): Sourced
  /** A part of a value that a message quotes. */
  quotable(text: string): string
}

export function makeValues({ maskValue, maskProse }: Pick<Secrets, 'maskValue' | 'maskProse'>): Values {
  return {
    text(element) {
      const text = trimmedText(element)
      return element && text !== undefined ? { text: maskValue(text), from: element } : undefined
    },
    attribute(element, name) {
      const text = attributeOf(element, name)
      return element && text !== undefined ? { text: maskValue(text), from: element, attribute: name } : undefined
    },
    joined(elements, separator) {
      const filled = elements.filter((element) => element !== undefined && trimmedText(element) !== undefined)
      const [first] = filled
      return first && { text: maskValue(filled.map(trimmedText).join(separator)), from: first }
    },
    prose: (text, from) => ({ text: maskProse(text), from }),
    quotable: maskProse
  }
}
