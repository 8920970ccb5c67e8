import { type SaxesAttributeNS, SaxesParser } from 'saxes'
import type { DocumentPlace } from '../domain/buyer-changes.ts'
import { Problem } from '../http/problem.ts'
import type { Guarded } from '../xml/guard.ts'
import { pathOf } from '../xml/locations.ts'
import type { Tag } from '../xml/tag.ts'

/** An element of a buyer's document, with its namespace and its place in the document. Its text may stand beside child elements. */
export interface XmlElement {
  /** As written, with its prefix. */
  readonly name: string
  readonly local: string
  /** The namespace's URI, '' without one. */
  readonly namespace: string
  /** The attributes without a prefix. Their values are normalised and their references resolved. */
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** The text of the element itself, without that of its children. */
  readonly text: string
  /** Text and children in their order, of an element that has both. */
  readonly mixed?: readonly (string | XmlElement)[]
  /** Line, path and offsets in the document as it was sent. */
  readonly tag: Tag
}

type Open = { -readonly [Key in keyof XmlElement]: XmlElement[Key] } & {
  readonly children: XmlElement[]
  mixed?: (string | XmlElement)[]
  /** Whether its own text has more than white space. To look through the text for each child would take quadratic time. */
  hasText: boolean
}

const noAttributes: XmlElement['attributes'] = {}

/** The attributes without a prefix. Most elements have none, and share one object. */
function unprefixed(attributes: readonly SaxesAttributeNS[]): XmlElement['attributes'] {
  const own = attributes.filter(({ prefix }) => prefix === '')
  return own.length === 0 ? noAttributes : Object.fromEntries(own.map(({ local, value }) => [local, value]))
}

/**
 * Reads a document with its namespaces and its mixed content, which the reader of the shop's own vocabulary refuses.
 * @param isLeftOut whether an element is left out, with all that it contains
 * @throws Problem `malformed-document`, with the line
 */
export function readElements({ source, tags }: Guarded, isLeftOut: (local: string, tag: Tag) => boolean = () => false): XmlElement {
  const parser = new SaxesParser({ xmlns: true, position: false })
  const open: Open[] = []
  /** Each local name once. The parser makes a new string for each element. */
  const names = new Map<string, string>()
  let root: XmlElement | undefined
  let count = 0
  /** The depth below the element that is left out, itself included. */
  let leftOut = 0
  parser.on('error', ({ message }) => {
    const tag = tags[Math.max(0, count - 1)]
    const detail = `The XML cannot be read: ${message.replace(/^[\d:]+\s*/, '')}`
    throw new Problem('malformed-document', detail, { faults: [{ detail, ...(tag ? { line: tag.line } : {}) }] })
  })
  parser.on('opentag', ({ local, uri, attributes }) => {
    const tag = tags[count++]
    if (!tag) throw new Error('the parser found an element that the guard did not')
    if (leftOut > 0 || (open.length > 0 && isLeftOut(local, tag))) {
      leftOut++
      return
    }
    const known = names.get(local)
    if (known === undefined) names.set(local, local)
    const { name } = tag
    const made: Open = {
      name,
      local: known ?? local,
      namespace: uri,
      attributes: unprefixed(Object.values(attributes)),
      children: [],
      text: '',
      tag,
      hasText: false
    }
    const parent = open.at(-1)
    if (parent?.mixed) parent.mixed.push(made)
    else if (parent?.hasText) parent.mixed = [parent.text, made]
    if (parent) parent.children.push(made)
    else root = made
    open.push(made)
  })
  const addText = (text: string) => {
    const current = open.at(-1)
    if (!current || leftOut > 0) return
    const isBlank = text.trim() === ''
    if (current.mixed) current.mixed.push(text)
    else if (current.children.length > 0 && !isBlank) current.mixed = [...current.children, text]
    current.hasText ||= !isBlank
    current.text += text
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    if (leftOut > 0) leftOut--
    else open.pop()
  })
  parser.write(source).close()
  if (!root) throw new Error('the document has no root element')
  return root
}

/** The text of an element without white space around it. Undefined for an element that is absent or empty. */
export function trimmedText(element: XmlElement | undefined): string | undefined {
  return element?.text.trim() || undefined
}

/**
 * The text of an element with text of its own, and that of the children between it. Undefined for one without text of its own.
 * @param without the local name of children that do not count
 */
export function wholeText(element: XmlElement, without?: string): string | undefined {
  return trimmedText(element) === undefined ? undefined : contentOf(element, without).trim()
}

function contentOf({ text, children, mixed }: XmlElement, without?: string): string {
  const parts = mixed ?? (children.length > 0 ? children : [text])
  return parts.map((part) => (typeof part === 'string' ? part : part.local === without ? '' : contentOf(part, without))).join('')
}

/** The value of an attribute without white space around it. Undefined for one that is absent or empty. */
export function attributeOf(element: XmlElement | undefined, name: string): string | undefined {
  return element?.attributes[name]?.trim() || undefined
}

/** The first descendant along a path of local names. */
export function find(element: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  let current = element
  for (const local of path) current = current?.children.find((child) => child.local === local)
  return current
}

export function findAll(element: XmlElement | undefined, local: string): readonly XmlElement[] {
  return element?.children.filter((child) => child.local === local) ?? []
}

/**
 * The offsets between which the source has an element's content. An end tag holds no other `<`, so the last `</` is its start.
 * An element without an end tag has no content.
 */
export function contentRange({ tag }: XmlElement, source: string): { readonly from: number; readonly to: number } {
  const from = tag.end + 1
  return source.startsWith('/>', tag.end) ? { from, to: from } : { from, to: source.lastIndexOf('</', tag.after - 1) }
}

/** The place of an element, or of its attribute, in the sender's document. The path is such as `/Order/cac:OrderLine[2]/cac:LineItem`. */
export function locationOf({ tag }: XmlElement, attribute?: string): DocumentPlace {
  const path = pathOf(tag)
  return { line: tag.line, path: attribute === undefined ? path : `${path}/@${attribute}` }
}
