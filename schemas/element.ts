/**
 * A document as the service thinks of it, whatever it came as: what XML, JSON and form readers make, what the readers of
 * each schema take, and what the XML and JSON writers write.
 */
export interface Element {
  readonly name: string
  readonly attributes?: Readonly<Record<string, string>>
  /** Text, or child elements; neither for an empty element. The documents of this service have no mixed content. */
  readonly text?: string
  readonly children?: readonly Element[]
  /** Where the sender wrote it, in the notation of what it was sent as: a JSON pointer, a form field's name. */
  readonly origin?: string
}

/** Where in a document something is: names and 1-based positions from the root's content down. */
export type Place = readonly (string | number)[]

type Content = string | readonly (Element | undefined)[]

/** Makes an element; `undefined` attributes and children are left out, so that optional parts need no branch. */
export function element(name: string, attributes: Readonly<Record<string, string | undefined>>, content?: Content): Element {
  const given = Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    name,
    ...(given.length > 0 ? { attributes: Object.fromEntries(given) } : {}),
    ...(typeof content === 'string' ? { text: content } : {}),
    ...(Array.isArray(content) ? { children: content.filter((child) => child !== undefined) } : {})
  }
}

/** An element with text, or nothing where there is none to say. */
export function textElement(name: string, text: string | undefined, attributes: Readonly<Record<string, string | undefined>> = {}) {
  return text === undefined ? undefined : element(name, attributes, text)
}

export function child(parent: Element, name: string): Element | undefined {
  return parent.children?.find((candidate) => candidate.name === name)
}

export function childrenOf(parent: Element, name: string): readonly Element[] {
  return parent.children?.filter((candidate) => candidate.name === name) ?? []
}

/** The text of a child, exactly as it was sent. */
export function textOf(parent: Element, name: string): string | undefined {
  const found = child(parent, name)
  return found && (found.text ?? '')
}

/** The text of a child whose type collapses white space (xs:token, xs:decimal, xs:date ...). */
export function tokenOf(parent: Element, name: string): string | undefined {
  const text = textOf(parent, name)
  return text === undefined ? undefined : collapse(text)
}

/** XML Schema's `whiteSpace="collapse"`. */
export function collapse(text: string): string {
  return text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '')
}
