import { follow, type Place } from '../schemas/element.ts'
import type { Tag } from './tag.ts'

/** The path of an element, such as `/purchase-order/item[2]/quantity`. It has a position only where siblings share the name. */
export function pathOf(tag: Tag): string {
  const { parent, name, nth } = tag
  if (!parent) return `/${name}`
  return `${pathOf(parent)}/${name}${(parent.counts.get(name) ?? 1) > 1 ? `[${nth}]` : ''}`
}

/** An element and its ancestors, the root first. */
function lineage(tag: Tag | undefined): readonly Tag[] {
  return tag ? [...lineage(tag.parent), tag] : []
}

/** The element at a place such as `['item', 2, 'quantity']`, or its nearest ancestor that exists. */
export function placeIn(tags: readonly Tag[], place: Place): Tag | undefined {
  const childOf = (of: Tag, called: string, position: number) =>
    tags.find(({ parent, name, nth }) => parent === of && name === called && nth === position)
  return tags[0] && follow(tags[0], place, childOf)
}

/** A part of a document, in which the elements around it are open at its start and closed at its end. */
export interface Excerpt {
  readonly xml: string
  /** The element on a line, if it is one of the part's. */
  tagAt(line: number): Tag | undefined
}

const lineEnds = /\r\n?|\n/g

/**
 * The part of a document from element `from` up to element `to`, with new line breaks: one inside each start tag. The line of a
 * libxml2 error then identifies one element, even when the whole order was written on one line. libxml2 2.9.9 keeps line numbers
 * in 16 bits, so a part can have 65,000 elements at most.
 * @param without elements to leave out, with their content, in document order
 */
export function excerpt(xml: string, tags: readonly Tag[], from: number, to: number, without: ReadonlySet<Tag>): Excerpt {
  const lines: Tag[] = []
  const pieces: string[] = []
  let at = 0
  const copy = (end: number) => {
    if (end > at) pieces.push(xml.slice(at, end).replace(lineEnds, ' '))
    at = Math.max(at, end)
  }
  const dropped = [...without]
  let next = 0
  const copyKept = (end: number) => {
    for (let drop = dropped[next]; drop && drop.start < end; drop = dropped[++next]) {
      copy(drop.start)
      at = Math.max(at, drop.after)
    }
    copy(end)
  }
  const copyTag = (tag: Tag) => {
    copyKept(tag.end)
    // An element that is left out has no line.
    if (at > tag.end) return
    pieces.push('\n')
    lines.push(tag)
  }
  const skipTo = (offset: number) => (at = Math.max(at, offset))
  for (const tag of lineage(tags[from]?.parent)) {
    skipTo(tag.start)
    copyTag(tag)
    copy(tag.end + 1)
  }
  if (from > 0) skipTo(tags[from]?.start ?? xml.length)
  for (const tag of tags.slice(from, to)) copyTag(tag)
  const cut = tags[to]
  copyKept(cut?.start ?? xml.length)
  const open = lineage(cut?.parent)
  const firstDropped = open.findIndex((tag) => without.has(tag))
  for (const { name } of open.slice(0, firstDropped < 0 ? open.length : firstDropped).reverse()) pieces.push(`</${name}>`)
  return { xml: pieces.join(''), tagAt: (line) => lines[line - 2] }
}
