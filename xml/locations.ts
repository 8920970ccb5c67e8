import { follow, type Place } from '../schemas/element.ts'
import type { Tag } from './tag.ts'

/** The path of an element, such as `/purchase-order/item[2]/quantity`. It has a position only where siblings share the name. */
export function pathOf(tag: Tag): string {
  const { parent, name, nth } = tag
  if (!parent) return `/${name}`
  return `${pathOf(parent)}/${name}${(parent.counts.get(name) ?? 1) > 1 ? `[${nth}]` : ''}`
}

/** An element and its ancestors, the root first. */
export function lineage(tag: Tag | undefined): readonly Tag[] {
  return tag ? [...lineage(tag.parent), tag] : []
}

/** The element at a place such as `['item', 2, 'quantity']`, or its nearest ancestor that exists. */
export function placeIn(tags: readonly Tag[], place: Place): Tag | undefined {
  const childOf = (of: Tag, called: string, position: number) =>
    tags.find(({ parent, name, nth }) => parent === of && name === called && nth === position)
  return tags[0] && follow(tags[0], place, childOf)
}

/** The first part of a document, with its open elements closed. */
export interface Excerpt {
  readonly xml: string
  /** The element on a line, if it is one of the requested elements. */
  tagAt(line: number): Tag | undefined
}

const lineEnds = /\r\n?|\n/g

/**
 * The document up to element `to`, with new line breaks: one inside the start tag of each requested element. These are the
 * elements from `from` on, and the ancestors of the first of them. The line of a libxml2 error then identifies one element,
 * even when the whole order was written on one line. libxml2 2.9.9 keeps line numbers in 16 bits, so at most 65,000
 * elements can be requested at once.
 * @param without elements to leave out, with their content
 */
export function excerpt(xml: string, tags: readonly Tag[], from: number, to: number, without: ReadonlySet<Tag>): Excerpt {
  const ancestors = new Set(from === 0 ? [] : lineage(tags[from]?.parent))
  const lines: (Tag | undefined)[] = []
  const pieces: string[] = []
  let at = 0
  const copy = (end: number) => {
    if (end > at) pieces.push(xml.slice(at, end).replace(lineEnds, ' '))
    at = Math.max(at, end)
  }
  const dropped = [...without].sort((a, b) => a.start - b.start)
  let next = 0
  const copyKept = (end: number) => {
    for (let drop = dropped[next]; drop && drop.start < end; drop = dropped[++next]) {
      copy(drop.start)
      at = Math.max(at, drop.after)
    }
    copy(end)
  }
  // Consecutive elements that are not requested share one line, which belongs to no element.
  let isRequested = false
  for (const [i, tag] of tags.slice(0, to).entries()) {
    const wasRequested: boolean = isRequested
    isRequested = i >= from || ancestors.has(tag)
    if (!isRequested && !wasRequested) continue
    copyKept(tag.end)
    if (at > tag.end) {
      // The element is left out, so the current line still belongs to the element before it.
      isRequested = wasRequested
      continue
    }
    pieces.push('\n')
    lines.push(isRequested ? tag : undefined)
  }
  const cut = tags[to]
  copyKept(cut?.start ?? xml.length)
  const open = lineage(cut?.parent)
  const firstDropped = open.findIndex((tag) => without.has(tag))
  for (const { name } of open.slice(0, firstDropped < 0 ? open.length : firstDropped).reverse()) pieces.push(`</${name}>`)
  return { xml: pieces.join(''), tagAt: (line) => lines[line - 2] }
}
