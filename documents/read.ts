import { hash } from 'node:crypto'
import { bufferOf } from '../domain/deferred.ts'
import { type Fault, mostFaults } from '../domain/errors.ts'
import { Problem } from '../http/problem.ts'
import type { DocumentSchema, LocatedFault } from '../schemas/document.ts'
import { childrenOf, collapse, type Element, type Place } from '../schemas/element.ts'
import { excessItems } from '../schemas/item-limit.ts'
import { linesAt } from '../schemas/json-lines.ts'
import { readXml } from '../schemas/xml.ts'
import type { XmlGate } from '../xml/gate.ts'
import { type Guarded, guard } from '../xml/guard.ts'
import { pathOf, placeIn } from '../xml/locations.ts'
import { scan } from '../xml/scan.ts'
import { noLimits, type Tag } from '../xml/tag.ts'
import { hasBuyersRoot, locateInBuyerDocument, readBuyerDocument } from './buyer.ts'
import type { DocumentLimits, Job, LocateJob, Location, ReadDocument, ReadJob, SentDocument } from './job.ts'
import { documentSchemas } from './schemas.ts'
import { jsonText, parseForm, parseJson, type TreeSource } from './sources.ts'
import { gateTree, originOf, readTreeSource, spellings } from './trees.ts'

class ValidationProblem extends Problem {
  constructor(faults: readonly LocatedFault[]) {
    const count =
      faults.length >= mostFaults
        ? `the first ${mostFaults} errors are listed`
        : faults.length === 1
          ? '1 error'
          : `${faults.length} errors`
    super('invalid-document', `The document does not match its schema: ${count}. Nothing was stored.`, { faults })
  }
}

const others = 'A UBL 2 Order, OrderChange or OrderCancellation, alone or in a StandardBusinessDocument, and cXML are taken too.'

/** Adds the vocabularies of buyers' systems to the fault of a root element that the schema does not have. */
function nameOthers(faults: readonly LocatedFault[], root: Tag | undefined, roots: readonly string[]): readonly LocatedFault[] {
  if (!root || roots.includes(root.name)) return faults
  return faults.map((fault) => ({ ...fault, detail: `${fault.detail} ${others}` }))
}

/** A document that matches its schema. */
interface ValidDocument {
  readonly root: Element
  readonly locate: Locate
}

/** Finds the locations of places in the document as it was sent. */
type Locate = (places: readonly Place[]) => readonly Location[]

function locateByTags(tags: readonly Tag[]): Locate {
  return (places) =>
    places.map((place) => {
      const found = placeIn(tags, place)
      return found ? { line: found.line, path: pathOf(found) } : {}
    })
}

/** @param root the document's root as it was read */
function locateInTree(document: SentDocument, root: Element): Locate {
  return (places) =>
    withLines(
      document,
      places.map((place) => originOf(root, place))
    )
}

/** Adds the lines to paths in a JSON document. A form has no lines. */
function withLines<F extends Location>({ notation, bytes }: SentDocument, found: readonly F[]): readonly F[] {
  if (notation !== 'json' || found.length === 0) return found
  const lines = linesAt(
    jsonText(bufferOf(bytes)),
    found.map(({ path = '' }) => path)
  )
  return found.map((one, i) => ({ ...one, line: lines[i] }))
}

/** The faults with the locations of their places. */
function located(faults: readonly Fault[], locate: Locate): readonly LocatedFault[] {
  const locations = locate(faults.map(({ at = [] }) => at))
  return faults.map(({ at: _, ...fault }, i) => ({ ...fault, ...locations[i] }))
}

function parseTree(notation: 'json' | 'form', bytes: Buffer, { marks }: DocumentLimits): TreeSource {
  return notation === 'json' ? parseJson(bytes, marks) : parseForm(bytes.toString('utf8'))
}

/** The guard of documents in the shop's own vocabulary. */
function guardOwn({ limits, isAscii = false }: ReadJob, bytes: Buffer): Guarded {
  return guard(bytes, limits.marks, {}, { isAscii })
}

/** XML documents that the guard has passed before their turn, by their jobs. */
export type GuardedDocuments = WeakMap<Job, Guarded>

/**
 * Reads the XML documents of a batch of jobs ahead, those of one schema together. Whatever fails is left to `readDocument`,
 * which finds the errors.
 */
export function readTogether(jobs: readonly Job[], gate: XmlGate): GuardedDocuments {
  const passed: GuardedDocuments = new WeakMap()
  const bySchema = new Map<string, Guarded[]>()
  for (const job of jobs) {
    if (job.kind !== 'read' || job.notation !== 'xml' || mayBeBuyers(job)) continue
    try {
      const document = guardOwn(job, bufferOf(job.bytes))
      passed.set(job, document)
      const sameSchema = bySchema.get(job.schema)
      if (sameSchema) sameSchema.push(document)
      else bySchema.set(job.schema, [document])
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }
  for (const [name, documents] of bySchema) {
    const { xsd, roots } = schemaOf({ schema: name })
    gate.validateTogether(documents, xsd, roots)
  }
  return passed
}

/** @throws Problem `invalid-document` when a document has more items than an order may have */
function refuseExcess(items: number, schema: DocumentSchema<unknown>, { maxOrderItems }: DocumentLimits, locate: Locate): void {
  const excess = excessItems(items, schema, maxOrderItems)
  if (excess) throw new ValidationProblem(located([excess], locate))
}

/** @throws Problem `malformed-document`, `forbidden-xml`, `invalid-document` */
function validate(job: ReadJob, bytes: Buffer, schema: DocumentSchema<unknown>, gate: XmlGate, passed: GuardedDocuments): ValidDocument {
  const { notation, limits } = job
  if (notation === 'xml') {
    const guarded = passed.get(job) ?? guardOwn(job, bytes)
    const locate = locateByTags(guarded.tags)
    refuseExcess(guarded.tags[0]?.counts.get('item') ?? 0, schema, limits, locate)
    const parsed = gate.parse(bytes, guarded)
    const faults = gate.validate(parsed, schema.xsd, schema.roots)
    if (faults.length > 0) throw new ValidationProblem(schema.takesOthers ? nameOthers(faults, parsed.tags[0], schema.roots) : faults)
    return { root: readXml(parsed.source), locate }
  }
  const source = parseTree(notation, bytes, limits)
  const reading = readTreeSource(source, schema, limits.marks)
  const locate = locateInTree(job, reading.root)
  if (reading.isWhole) refuseExcess(childrenOf(reading.root, 'item').length, schema, limits, locate)
  const faults = gateTree(reading, spellings[notation], schema, gate)
  if (faults.length > 0) throw new ValidationProblem(withLines(job, faults))
  return { root: reading.root, locate }
}

/** Whether a document may be in the vocabulary of a buyer's system. */
function mayBeBuyers(job: Pick<ReadJob, 'schema' | 'notation' | 'bytes'>): boolean {
  return job.notation === 'xml' && schemaOf(job).takesOthers === true && hasBuyersRoot(bufferOf(job.bytes))
}

function schemaOf({ schema }: { readonly schema: string }): DocumentSchema<unknown> {
  const found = documentSchemas.get(schema)
  if (!found) throw new Error(`there is no document schema ${schema}`)
  return found
}

function readValue({ root, locate }: ValidDocument, schema: DocumentSchema<unknown>): unknown {
  const reported: Fault[] = []
  const value = schema.read(root, (at, detail, code) => {
    if (reported.length < mostFaults) reported.push({ at, detail, ...(code === undefined ? {} : { code }) })
  })
  if (reported.length > 0) throw new ValidationProblem(located(reported, locate))
  return value
}

/** Validates a document and returns its domain value. @throws Problem with the errors of the document, up to `mostFaults` */
export function readDocument(job: ReadJob, gate: XmlGate, passed: GuardedDocuments): ReadDocument {
  const bytes = bufferOf(job.bytes)
  const schema = schemaOf(job)
  if (mayBeBuyers(job)) {
    const read = readBuyerDocument(job, bytes, schema, gate, (faults) => new ValidationProblem(faults))
    if (read) return read
  }
  const valid = validate(job, bytes, schema, gate, passed)
  const value = readValue(valid, schema)
  const named = schema.identity === undefined ? undefined : valid.root.attributes?.[schema.identity]
  const known = schema.known
    ? { known: Object.fromEntries(schema.known.map((name) => [name, (value as Record<string, unknown>)[name]])) }
    : {}
  return {
    text: JSON.stringify(value),
    ...known,
    ...(named === undefined ? {} : { named: collapse(named) }),
    digest: hash('sha256', bytes)
  }
}

/** Finds places of a document that was accepted before, in the notation of its sender. */
export function locateInDocument(job: LocateJob): readonly Location[] {
  const bytes = bufferOf(job.bytes)
  const located = mayBeBuyers(job) ? locateInBuyerDocument(bytes, job.limits, job.places) : undefined
  if (located) return located
  if (job.notation === 'xml') return locateByTags(scan(bytes.toString('utf8'), noLimits))(job.places)
  const { root } = readTreeSource(parseTree(job.notation, bytes, job.limits), schemaOf(job), job.limits.marks)
  return locateInTree(job, root)(job.places)
}
