import type { X2jOptions } from 'fast-xml-parser'
import type { Element } from './element.ts'

type Building = { -readonly [Key in keyof Element]: Element[Key] } & { children?: Building[] }

/** The position of fast-xml-parser in the document. The root has the depth 1. */
interface Path {
  getDepth(): number
}

const nothing = () => undefined

/**
 * Makes elements from the callbacks of fast-xml-parser, which report start tags and texts in their order. The parser makes no tree of
 * its own: that would take longer to make, and longer again to turn into elements.
 */
export class ElementBuilder {
  /** The innermost element at each depth, and its text so far. Those deeper than `#depth` have ended. */
  readonly #elements: Building[] = []
  readonly #texts: string[] = []
  #depth = 0
  /** The next value is text or an attribute's value, and not a CDATA section, which is never decoded. */
  #isDecoded = false

  /** The options of the parser that are callbacks. */
  readonly callbacks = {
    processEntities: true,
    entityDecoder: {
      reset: nothing,
      setXmlVersion: nothing,
      setExternalEntities: nothing,
      addInputEntities: nothing,
      decode: (text) => {
        this.#isDecoded = true
        return text
      }
    },
    attributeValueProcessor: nothing,
    tagValueProcessor: (_name, value, path) => {
      this.#texts[(path as Path).getDepth()] += this.#isDecoded ? dereference(value) : value
      this.#isDecoded = false
      return ''
    },
    updateTag: (name, path, attributes) => {
      this.#start(name, (path as unknown as Path).getDepth(), attributes as unknown as Readonly<Record<string, string>>)
      return false
    }
  } satisfies X2jOptions

  #start(name: string, depth: number, raw: Readonly<Record<string, string>>): void {
    this.#isDecoded = false
    this.#endFrom(depth)
    const attributes = readAttributes(raw)
    const element: Building = attributes ? { name, attributes } : { name }
    this.#elements[depth] = element
    this.#texts[depth] = ''
    this.#depth = depth
    const parent = depth > 1 ? this.#elements[depth - 1] : undefined
    if (parent?.children) parent.children.push(element)
    else if (parent) parent.children = [element]
  }

  /** Ends the elements of this depth and deeper ones. */
  #endFrom(depth: number): void {
    for (let at = this.#depth; at >= depth; at--) {
      const element = this.#elements[at]
      if (element && !element.children) element.text = this.#texts[at] ?? ''
    }
  }

  /** Ends the document. @returns its root element, if it has one */
  end(): Element | undefined {
    this.#endFrom(1)
    const root = this.#depth > 0 ? this.#elements[1] : undefined
    this.#elements.length = 0
    this.#texts.length = 0
    this.#depth = 0
    return root
  }
}

/** Namespace declarations are not attributes of the element (Namespaces in XML, section 3). */
function readAttributes(raw: Readonly<Record<string, string>>): Element['attributes'] {
  let attributes: Record<string, string> | undefined
  for (const name in raw) {
    if (/^xmlns(?::|$)/.test(name)) continue
    attributes ??= {}
    attributes[name] = dereference(normalise(raw[name] ?? ''))
  }
  return attributes
}

/** Attribute-value normalisation (XML 1.0 section 3.3.3): white space becomes a space, unless it is a character reference. */
function normalise(value: string): string {
  return value.replace(/[\t\n\r]/g, ' ')
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function dereference(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([a-z]+));/g, (whole, hex?: string, dec?: string, name?: string) => {
    if (name !== undefined) return predefined[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number.parseInt(dec ?? '', 10) : Number.parseInt(hex, 16))
  })
}
