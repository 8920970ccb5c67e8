/**
 * An element of a document, whatever the document's notation. The readers of XML, JSON and forms make elements, the
 * schemas turn them into domain values, and the writers of XML and JSON write them.
 */
export interface Element {
  readonly name: string
  readonly attributes?: Readonly<Record<string, string>>
  /** An element has text or children, or neither when it is empty. There is no mixed content. */
  readonly text?: string
  readonly children?: readonly Element[]
  /** The element's place in the document as sent, in the sender's notation: a JSON pointer or the name of a form field. */
  readonly origin?: string
}

/** A path to a part of a document: names and 1-based positions, from the root's content down. */
export type Place = readonly (string | number)[]

type Content = string | readonly (Element | undefined)[]

/** Makes an element. Attributes and children that are undefined are left out. */
export function element(name: string, attributes: Readonly<Record<string, string | undefined>>, content?: Content): Element {
  const made: { -readonly [Key in keyof Element]: Element[Key] } = { name }
  const given = definedIn(attributes)
  if (given) made.attributes = given
  if (typeof content === 'string') made.text = content
  else if (content) made.children = content.filter((child) => child !== undefined)
  return made
}

/** The attributes that are defined. Undefined when there are none. It runs for every element of a response, so it makes no intermediate arrays. */
function definedIn(attributes: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> | undefined {
  let given: Record<string, string> | undefined
  for (const name of Object.keys(attributes)) {
    const value = attributes[name]
    if (value === undefined) continue
    given ??= {}
    given[name] = value
  }
  return given
}

/** Makes an element with text, or returns undefined when the text is undefined. */
export function textElement(name: string, text: string | undefined): Element | undefined {
  return text === undefined ? undefined : element(name, {}, text)
}

export function child({ children }: Element, name: string): Element | undefined {
  // Each order looks up many children, and `find` with a closure takes longer.
  if (children) for (const candidate of children) if (candidate.name === name) return candidate
  return undefined
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

/**
 * Follows a place from a root, step by step. A name without a position is the first child of that name.
 * @returns the part at the place, or its nearest ancestor that exists
 */
export function follow<Part>(root: Part, place: Place, childOf: (parent: Part, name: string, position: number) => Part | undefined): Part {
  let current = root
  for (const [i, name] of place.entries()) {
    if (typeof name === 'number') continue
    const following = place[i + 1]
    const next = childOf(current, name, typeof following === 'number' ? following : 1)
    if (!next) return current
    current = next
  }
  return current
}

/** The element at a place, or its nearest ancestor that exists. */
export function elementAt(root: Element, place: Place): Element {
  return follow(root, place, (parent, name, position) => childrenOf(parent, name)[position - 1])
}

const whiteSpace = /[ \t\r\n]/

/** XML Schema's `whiteSpace="collapse"`. */
export function collapse(text: string): string {
  if (!whiteSpace.test(text)) return text
  return text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '')
}
