import { type DocumentSchema, type LocatedFault, rootType } from '../schemas/document.ts'
import type { Element, Place } from '../schemas/element.ts'
import { readForm } from '../schemas/form.ts'
import { camelCase, readJson } from '../schemas/json.ts'
import type { TreeReading } from '../schemas/tree.ts'
import { writeXml } from '../schemas/xml.ts'
import { maxErrors } from '../xml/faults.ts'
import { ownXml, type XmlGate } from '../xml/gate.ts'
import type { Spell } from '../xml/messages.ts'
import type { TreeSource } from './sources.ts'

/** @param most the most elements that a document can have */
export function readTreeSource(source: TreeSource, schema: DocumentSchema<unknown>, most: number): TreeReading {
  const type = rootType(schema)
  return source.notation === 'json'
    ? readJson(source.value, type, { repeated: source.repeated, most })
    : readForm(source.fields, type, most)
}

/** How errors write the names of elements: as the sender does. */
const spellings: Readonly<Record<TreeSource['notation'], Spell>> = {
  json: (name) => JSON.stringify(camelCase(name)),
  form: (name) => name
}

/** An element and all in it, in the order of their start tags. */
function flatten(element: Element, found: Element[] = []): readonly Element[] {
  found.push(element)
  for (const child of element.children ?? []) flatten(child, found)
  return found
}

/**
 * Sorts faults as the elements that they are about, or the nearest there are around them, stand in the document.
 * @param judged those that the schema has: what it misses in the document as a whole would stand at its end
 */
function inDocumentOrder(
  read: readonly LocatedFault[],
  judged: readonly LocatedFault[],
  elements: readonly Element[]
): readonly LocatedFault[] {
  const positions = new Map<string, number>()
  for (const [i, { origin }] of elements.entries()) if (origin !== undefined && !positions.has(origin)) positions.set(origin, i)
  const positionOf = ({ path = '' }: LocatedFault): number => {
    let place = path
    while (place !== '' && !positions.has(place)) place = place.slice(0, Math.max(0, place.search(/[./][^./]*$/)))
    return positions.get(place) ?? 0
  }
  const placed = [
    ...read.map((fault) => ({ fault, position: positionOf(fault) })),
    ...judged.map((fault) => ({ fault, position: fault.path === '' ? elements.length : positionOf(fault) }))
  ]
  return placed.sort((a, b) => a.position - b.position).map(({ fault }) => fault)
}

/** JSON and forms pass the same gate as XML: they are written as XML, and the XSD judges that. */
export function gateTree(
  reading: TreeReading,
  notation: TreeSource['notation'],
  schema: DocumentSchema<unknown>,
  xml: XmlGate
): readonly LocatedFault[] {
  const elements = flatten(reading.root)
  // More is not needed to see that the document is refused.
  if (!reading.isWhole || reading.faults.length >= maxErrors) return inDocumentOrder(reading.faults, [], elements)
  const parsed = ownXml(writeXml(reading.root))
  // Each element that was written starts a line of its own.
  const originAt = new Map(parsed.tags.map(({ line }, i) => [line, elements[i]?.origin ?? '']))
  const read = new Map(reading.faults.map((fault) => [`${fault.path} ${fault.detail}`, fault]))
  const judged = new Map<string, LocatedFault>()
  const unread = new Set(reading.faults.map(({ path }) => path))
  for (const { detail, line } of xml.validate(parsed, schema.xsd, [reading.root.name], spellings[notation])) {
    const path = originAt.get(line ?? 1) ?? ''
    // What could not be read is empty by now: the schema's word on it would be about that.
    if (!unread.has(path)) judged.set(`${path} ${detail}`, { detail, path })
  }
  return inDocumentOrder([...read.values()], [...judged.values()], elements)
}

/** Where an element, or the nearest there is around it, was in what was sent. */
export function originOf(root: Element, place: Place): { path?: string } {
  let current = root
  for (let i = 0; i < place.length; i++) {
    const following = place[i + 1]
    const position = typeof following === 'number' ? following : 1
    const next = current.children?.filter(({ name }) => name === place[i])[position - 1]
    if (!next) break
    current = next
    if (typeof following === 'number') i++
  }
  return current.origin === undefined ? {} : { path: current.origin }
}
