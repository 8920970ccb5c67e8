import { mostFaults } from '../domain/errors.ts'
import type { DocumentSchema, LocatedFault } from '../schemas/document.ts'
import { type Element, elementAt, type Place } from '../schemas/element.ts'
import { readForm } from '../schemas/form.ts'
import { camelCase, readJson } from '../schemas/json.ts'
import type { Tree, TreeReading } from '../schemas/tree.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { writeLines } from '../schemas/xml.ts'
import { ownXml, type XmlGate } from '../xml/gate.ts'
import type { Spell } from '../xml/messages.ts'
import type { TreeSource } from './sources.ts'

/** @param maxElements the most elements that the document may have */
export function readTreeSource(source: TreeSource, schema: DocumentSchema<unknown>, maxElements: number): TreeReading {
  const type = rootType(schema.xsd, schema.roots[0])
  if (source.notation === 'form') return readForm(source.fields, type, maxElements)
  const reading = readJson(source.value, type, { repeated: source.repeated, most: maxElements })
  const empty = emptyLists(source.value, schema)
  return empty.length === 0 ? reading : { ...reading, faults: [...reading.faults, ...empty] }
}

function emptyLists(value: Tree, { noEmpty = [] }: DocumentSchema<unknown>): TreeReading['faults'] {
  if (noEmpty.length === 0 || typeof value !== 'object' || value === null) return []
  const members = new Map(Object.entries(value))
  return noEmpty.map(camelCase).flatMap((name) => {
    const list: unknown = members.get(name)
    if (!Array.isArray(list) || list.length > 0) return []
    return [{ path: `/${name}`, detail: `${name} is empty. List what is meant, or leave ${name} out to mean all.` }]
  })
}

/** Error messages write the names of elements as the sender's notation does. */
export const spellings: Readonly<Record<TreeSource['notation'], Spell>> = {
  json: (name) => JSON.stringify(camelCase(name)),
  form: (name) => name
}

/** Names the root element of JSON and forms, which do not write its name. */
const rootName = 'the document'

function asSentence(detail: string): string {
  return detail.startsWith(rootName) ? `T${detail.slice(1)}` : detail
}

/** An element and its descendants, in document order. */
function flatten(element: Element, found: Element[] = []): readonly Element[] {
  found.push(element)
  for (const child of element.children ?? []) flatten(child, found)
  return found
}

/** A place and the places around it, the innermost first. */
function placesAround(place: string): readonly string[] {
  return place === '' ? [''] : [place, ...placesAround(place.slice(0, Math.max(0, place.search(/[./][^./]*$/))))]
}

/**
 * Sorts faults by the position of their element in the document, or of its nearest existing ancestor.
 * @param schemaFaults faults from the schema. One about a missing child of the root element belongs at the document's end.
 */
function inDocumentOrder(
  readerFaults: readonly LocatedFault[],
  schemaFaults: readonly LocatedFault[],
  elements: readonly Element[]
): readonly LocatedFault[] {
  if (readerFaults.length + schemaFaults.length === 0) return []
  // A long document has far more elements than places that are asked for.
  const wanted = new Set([...readerFaults, ...schemaFaults].flatMap(({ path = '' }) => placesAround(path)))
  const positions = new Map<string, number>()
  for (const [i, { origin }] of elements.entries()) {
    if (origin !== undefined && wanted.has(origin) && !positions.has(origin)) positions.set(origin, i)
  }
  const positionOf = ({ path = '' }: LocatedFault): number =>
    placesAround(path)
      .map((place) => positions.get(place))
      .find((position) => position !== undefined) ?? 0
  const placed = [
    ...readerFaults.map((fault) => ({ fault, position: positionOf(fault) })),
    ...schemaFaults.map((fault) => ({ fault, position: fault.path === '' ? elements.length : positionOf(fault) }))
  ]
  return placed.sort((a, b) => a.position - b.position).map(({ fault }) => fault)
}

/**
 * Validates JSON, forms and documents of other vocabularies with the same XSD as XML: they are written as XML first.
 * @param spell writes the name of an element of the XSD as the sender does
 */
export function gateTree(reading: TreeReading, spell: Spell, schema: DocumentSchema<unknown>, xml: XmlGate): readonly LocatedFault[] {
  const elements = flatten(reading.root)
  // The document will be refused with these faults, so the schema need not look for more.
  if (!reading.isWhole || reading.faults.length >= mostFaults) return inDocumentOrder(reading.faults, [], elements)
  const parsed = ownXml(writeLines(reading.root))
  const readerFaults = new Map(reading.faults.map((fault) => [`${fault.path} ${fault.detail}`, fault]))
  const schemaFaults = new Map<string, LocatedFault>()
  const unread = new Set(reading.faults.map(({ path }) => path))
  const named: Spell = (name) => (name === reading.root.name ? rootName : spell(name))
  const found = xml
    .validate(parsed, schema.xsd, [reading.root.name], named)
    .map(({ detail, line = 1 }) => ({ detail: asSentence(detail), line }))
  const lines = new Set(found.map(({ line }) => line))
  // writeLines begins each element on a line of its own.
  const originAt = new Map(parsed.tags.flatMap(({ line }, i) => (lines.has(line) ? [[line, elements[i]?.origin ?? '']] : [])))
  for (const { detail, line } of found) {
    const path = originAt.get(line) ?? ''
    // A value that could not be read is empty in the XML: the schema's fault would be about the empty value.
    if (!unread.has(path)) schemaFaults.set(`${path} ${detail}`, { detail, path })
  }
  return inDocumentOrder([...readerFaults.values()], [...schemaFaults.values()], elements)
}

/** The path of an element, or of its nearest existing ancestor, in the document as sent. */
export function originOf(root: Element, place: Place): { path?: string } {
  const { origin } = elementAt(root, place)
  return origin === undefined ? {} : { path: origin }
}
