import { mostFaults } from '../../domain/errors.ts'
import type { ImportItem } from '../../domain/product-writes.ts'
import { Problem } from '../../http/problem.ts'
import type { LocatedFault } from '../../schemas/document.ts'
import type { Element, Place } from '../../schemas/element.ts'
import { productXsd, readProduct } from '../../schemas/product.ts'
import { makeXmlGate, type XmlGate } from '../../xml/gate.ts'
import type { CatalogueDocument } from './catalogue-document.ts'
import { catalogueOfElements } from './element-catalogue.ts'
import { type Entry, maxEntryLength } from './entry.ts'
import { catalogueOfXml } from './xml-catalogue.ts'

/** The result for one entry: an item for the store, or its faults. */
export type ValidatedEntry =
  | { readonly line: number; readonly item: ImportItem }
  | { readonly line: number; readonly faults: readonly LocatedFault[] }

/**
 * Characters of products that are validated together: at least one of the largest. A character has up to four bytes, and libxml2 reads
 * documents of up to 10 MB.
 */
const mostTogether = maxEntryLength
const tooLarge = { detail: `The product has more than ${mostTogether} characters as XML.` }

/**
 * Validates products by the rules of a PUT (the same XML guard, schema and reader), but many at once, since one takes as
 * long as dozens. If the faults of a batch cannot be assigned to its products, each half is validated separately.
 */
export function makeValidator(): (entries: readonly Entry[]) => readonly ValidatedEntry[] {
  const gate = makeXmlGate()
  return (entries) => {
    const readable = entries.filter(({ xml, root }) => xml !== undefined || root !== undefined)
    const results = new Map(validateTogether(readable, gate).map((result, i) => [readable[i], result]))
    return entries.map((entry) => results.get(entry) ?? { line: entry.line, faults: entry.faults })
  }
}

function validateTogether(entries: readonly Entry[], gate: XmlGate): readonly ValidatedEntry[] {
  const [first] = entries
  if (!first) return []
  const halves = () => {
    const middle = entries.length >> 1
    return [...validateTogether(entries.slice(0, middle), gate), ...validateTogether(entries.slice(middle), gate)]
  }
  let catalogue: CatalogueDocument
  try {
    catalogue = first.xml === undefined ? catalogueOfElements(entries) : catalogueOfXml(entries, gate)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return entries.length > 1 ? halves() : [{ line: first.line, faults: malformed(error, first.line) }]
  }
  if (catalogue.parsed.source.length > mostTogether) {
    return entries.length > 1 ? halves() : [{ line: first.line, faults: [...first.faults, tooLarge] }]
  }
  const found = gate.validate(catalogue.parsed, productXsd, ['catalogue'], catalogue.spell)
  const hasRootFault = found.some(({ path }) => path === '/catalogue')
  if (entries.length > 1 && (found.length >= mostFaults || hasRootFault)) return halves()
  const faults = entries.map((entry) => [...entry.faults])
  for (const { index, fault } of found.map(catalogue.trace)) {
    // A value that could not be read is empty in the XML: the schema's fault would be about the empty value.
    if (!entries[index]?.faults.some(({ path }) => path !== undefined && path === fault.path)) faults[index]?.push(fault)
  }
  const roots = catalogue.roots()
  // An entry with several elements, or none, would shift the entries after it.
  if (roots.length !== entries.length) return entries.length > 1 ? halves() : [{ line: first.line, faults: faults[0] ?? [] }]
  return entries.map(({ line }, i) => readItem(line, faults[i] ?? [], roots[i], (at) => catalogue.locate(i, at)))
}

/**
 * @param root it matches the schema if there are no faults
 * @param locate finds an element of the root in the file
 */
function readItem(
  line: number,
  faults: readonly LocatedFault[],
  root: Element | undefined,
  locate: (at: Place) => { readonly line?: number; readonly path?: string }
): ValidatedEntry {
  if (faults.length > 0 || !root) return { line, faults }
  const reported: LocatedFault[] = []
  const { id, draft } = readProduct(root, (at, detail) => reported.push({ detail, ...locate(at) }))
  if (id === undefined) reported.push({ detail: 'The product has no id.', ...locate([]) })
  return id !== undefined && reported.length === 0 ? { line, item: { id, draft } } : { line, faults: reported }
}

function malformed(problem: Problem, line: number): readonly LocatedFault[] {
  const [fault] = problem.faults
  // The entry starts at the second line of the catalogue document, after the root's start tag.
  const inFile = (within: number) => line + Math.max(0, within - 2)
  const detail = (fault?.detail ?? problem.message).replace(/\bline (\d+)/g, (_, within: string) => `line ${inFile(Number(within))}`)
  return [{ detail, line: fault && 'line' in fault && fault.line !== undefined ? inFile(fault.line) : line }]
}
