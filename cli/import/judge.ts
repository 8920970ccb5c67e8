import type { ImportItem } from '../../domain/store.ts'
import { Problem } from '../../http/problem.ts'
import type { LocatedFault } from '../../schemas/document.ts'
import { childrenOf, type Element, type Place } from '../../schemas/element.ts'
import { productXsd, readProduct } from '../../schemas/product.ts'
import { maxErrors } from '../../xml/faults.ts'
import { makeXmlGate, type ParsedXml, type XmlGate } from '../../xml/gate.ts'
import { showElements } from './element-form.ts'
import type { Entry } from './entry.ts'
import { showXml } from './xml-form.ts'

/** What became of an entry: an item for the store, or all that is wrong with it. */
export type Verdict =
  | { readonly line: number; readonly item: ImportItem }
  | { readonly line: number; readonly faults: readonly LocatedFault[] }

/** Several entries as one catalogue. */
export interface Form {
  readonly parsed: ParsedXml
  /** The products of the catalogue, in the entries' order; only to be read when the schema accepts them. */
  readonly roots: () => readonly Element[]
  /** Whose fault it is, by the entry's index, and where that is in the file. */
  readonly trace: (fault: LocatedFault) => { readonly index: number; readonly fault: LocatedFault }
  /** Where in the file an element of a product is. */
  readonly locate: (element: Element) => { readonly line?: number; readonly path?: string }
}

/**
 * Judges products by the rules of a PUT: the same gate, the same schema, the same reader; but many at once, since to
 * judge one takes as long as to judge dozens. Where they do not pass together, halves of them are judged, down to one.
 */
export function makeValidator(gate: XmlGate = makeXmlGate()): (entries: readonly Entry[]) => readonly Verdict[] {
  return (entries) => {
    const judgeable = entries.filter(({ xml, root }) => xml !== undefined || root !== undefined)
    const verdicts = new Map(judgeTogether(judgeable, gate).map((verdict, i) => [judgeable[i], verdict]))
    return entries.map((entry) => verdicts.get(entry) ?? { line: entry.line, faults: entry.faults })
  }
}

function judgeTogether(entries: readonly Entry[], gate: XmlGate): readonly Verdict[] {
  const [first] = entries
  if (!first) return []
  const halves = () => {
    const middle = entries.length >> 1
    return [...judgeTogether(entries.slice(0, middle), gate), ...judgeTogether(entries.slice(middle), gate)]
  }
  let form: Form
  try {
    form = first.xml === undefined ? showElements(entries) : showXml(entries, gate)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return entries.length > 1 ? halves() : [{ line: first.line, faults: malformed(error, first.line) }]
  }
  const found = gate.validate(form.parsed, productXsd, ['catalogue'])
  const isOfNone = found.some(({ path }) => path === '/catalogue')
  if (entries.length > 1 && (found.length >= maxErrors || isOfNone)) return halves()
  const faults = entries.map((entry) => [...entry.faults])
  for (const { index, fault } of found.map(form.trace)) {
    // What could not be read into an element is empty to the schema.
    if (!entries[index]?.faults.some(({ path }) => path !== undefined && path === fault.path)) faults[index]?.push(fault)
  }
  const roots = form.roots()
  // One that has several elements, or none, would shift the others.
  if (roots.length !== entries.length) return entries.length > 1 ? halves() : [{ line: first.line, faults: faults[0] ?? [] }]
  return entries.map(({ line }, i) => conclude(line, faults[i] ?? [], roots[i], form))
}

/** @param root valid against the schema when there are no faults */
function conclude(line: number, faults: readonly LocatedFault[], root: Element | undefined, form: Form): Verdict {
  if (faults.length > 0 || !root) return { line, faults }
  const reported: LocatedFault[] = []
  const { id, draft } = readProduct(root, (at, detail) => reported.push({ detail, ...form.locate(elementAt(root, at)) }))
  if (id === undefined) reported.push({ detail: 'The product has no id.', ...form.locate(root) })
  return id !== undefined && reported.length === 0 ? { line, item: { id, draft } } : { line, faults: reported }
}

function malformed(problem: Problem, line: number): readonly LocatedFault[] {
  const [fault] = problem.faults
  // The entry is the second line of its catalogue: the root's start tag is the first.
  const inFile = (within: number) => line + Math.max(0, within - 2)
  const detail = (fault?.detail ?? problem.message).replace(/\bline (\d+)/g, (_, within: string) => `line ${inFile(Number(within))}`)
  return [{ detail, line: fault && 'line' in fault && fault.line !== undefined ? inFile(fault.line) : line }]
}

function elementAt(root: Element, place: Place): Element {
  let current = root
  for (let i = 0; i < place.length; i++) {
    const following = place[i + 1]
    const position = typeof following === 'number' ? following : 1
    const next = childrenOf(current, String(place[i]))[position - 1]
    if (!next) return current
    current = next
    if (typeof following === 'number') i++
  }
  return current
}
