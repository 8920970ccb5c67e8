import type { Place } from '../schemas/element.ts'
import type { Tag } from './tag.ts'

/** Such as `/purchase-order/item[2]/quantity`: a position is named where a parent has the name more than once. */
export function pathOf(tag: Tag): string {
  const { parent, name, nth } = tag
  if (!parent) return `/${name}`
  return `${pathOf(parent)}/${name}${(parent.counts.get(name) ?? 1) > 1 ? `[${nth}]` : ''}`
}

/** An element and those that it is in, the root first. */
export function lineage(tag: Tag | undefined): readonly Tag[] {
  return tag ? [...lineage(tag.parent), tag] : []
}

/** The element of a place, or the nearest there is around it: `['item', 2, 'quantity']`. */
export function placeIn(tags: readonly Tag[], place: Place): Tag | undefined {
  let current = tags[0]
  for (let i = 0; i < place.length; i++) {
    const following = place[i + 1]
    const position = typeof following === 'number' ? following : 1
    const next = tags.find(({ parent, name, nth }) => parent === current && name === place[i] && nth === position)
    if (!next) return current
    current = next
    if (typeof following === 'number') i++
  }
  return current
}

/** The first part of a document, closed so that it is well-formed. */
export interface Excerpt {
  readonly xml: string
  /** The element that a line belongs to, if it is one of those asked for. */
  tagAt(line: number): Tag | undefined
}

const lineEnds = /\r\n?|\n/g

/**
 * The document up to element `to`, with the only line ends where white space means nothing: inside the start tags of the
 * elements from `from` on, and of those around the first of them. The line that libxml2 gives for an error then belongs
 * to one element only, also when a whole order is written on one line; and as libxml2 2.9.9 keeps lines in 16 bits, no
 * more than 65,000 elements can be asked for at once.
 * @param without elements that are left out, with all that is in them
 */
export function excerpt(xml: string, tags: readonly Tag[], from: number, to: number, without: ReadonlySet<Tag>): Excerpt {
  const around = new Set(from === 0 ? [] : lineage(tags[from]?.parent))
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
  // Elements that are not asked for share the line of the first of them, which is nobody's.
  let isAsked = false
  for (const [i, tag] of tags.slice(0, to).entries()) {
    const wasAsked: boolean = isAsked
    isAsked = i >= from || around.has(tag)
    if (!isAsked && !wasAsked) continue
    copyKept(tag.end)
    if (at > tag.end) {
      // It is left out, so the line is still that of the one before.
      isAsked = wasAsked
      continue
    }
    pieces.push('\n')
    lines.push(isAsked ? tag : undefined)
  }
  const cut = tags[to]
  copyKept(cut?.start ?? xml.length)
  const open = lineage(cut?.parent)
  const gone = open.findIndex((tag) => without.has(tag))
  for (const { name } of open.slice(0, gone < 0 ? open.length : gone).reverse()) pieces.push(`</${name}>`)
  return { xml: pieces.join(''), tagAt: (line) => lines[line - 2] }
}
