import { createHash } from 'node:crypto'
import { Problem } from '../http/problem.ts'
import type { DocumentSchema, LocatedFault } from '../schemas/document.ts'
import type { Element, Place } from '../schemas/element.ts'
import { readXml } from '../schemas/xml.ts'
import { maxErrors } from '../xml/faults.ts'
import type { XmlGate } from '../xml/gate.ts'
import { pathOf, placeIn } from '../xml/locations.ts'
import { scan } from '../xml/scan.ts'
import { noLimits, type Tag } from '../xml/tag.ts'
import type { DocumentLimits, LocateJob, Location, ReadDocument, ReadJob } from './job.ts'
import { documentSchemas } from './schemas.ts'
import { parseForm, parseJson, type TreeSource } from './sources.ts'
import { gateTree, originOf, readTreeSource } from './trees.ts'

class ValidationProblem extends Problem {
  constructor(faults: readonly LocatedFault[]) {
    const count =
      faults.length >= maxErrors
        ? `the first ${maxErrors} errors are`
        : faults.length === 1
          ? 'one error is'
          : `${faults.length} errors are`
    super('invalid-document', `The document is not as its schema wants it: ${count} listed. Nothing was stored.`, {
      faults: faults.slice(0, maxErrors)
    })
  }
}

/** A document that its schema accepts, and how to find a place of it in what was sent. */
interface Accepted {
  readonly root: Element
  locate(place: Place): Location
}

type Locate = Accepted['locate']

function locateAmong(tags: readonly Tag[]): Locate {
  return (place) => {
    const found = placeIn(tags, place)
    return found ? { line: found.line, path: pathOf(found) } : {}
  }
}

function parseTree(notation: 'json' | 'form', bytes: Buffer): TreeSource {
  return notation === 'json' ? parseJson(bytes) : parseForm(bytes.toString('utf8'))
}

/** @throws Problem `malformed-document`, `forbidden-xml`, `invalid-document` */
function accept({ notation, limits }: ReadJob, bytes: Buffer, schema: DocumentSchema<unknown>, gate: XmlGate): Accepted {
  if (notation === 'xml') {
    const parsed = gate.parse(bytes, limits.marks)
    const faults = gate.validate(parsed, schema.xsd, schema.roots)
    if (faults.length > 0) throw new ValidationProblem(faults)
    return { root: readXml(parsed.source), locate: locateAmong(parsed.tags) }
  }
  const source = parseTree(notation, bytes)
  const reading = readTreeSource(source, schema, limits.marks)
  const faults = gateTree(reading, notation, schema, gate)
  if (faults.length > 0) throw new ValidationProblem(faults)
  return { root: reading.root, locate: (place) => originOf(reading.root, place) }
}

function schemaOf({ schema }: { readonly schema: string }): DocumentSchema<unknown> {
  const found = documentSchemas.get(schema)
  if (!found) throw new Error(`there is no document schema ${schema}`)
  return found
}

function bufferOf({ bytes }: { readonly bytes: Uint8Array }): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function readValue({ root, locate }: Accepted, schema: DocumentSchema<unknown>, limits: DocumentLimits): unknown {
  const reported: LocatedFault[] = []
  const value = schema.read(
    root,
    (at, detail, code) => {
      if (reported.length < maxErrors) reported.push({ detail, ...(code === undefined ? {} : { code }), ...locate(at) })
    },
    limits
  )
  if (reported.length > 0) throw new ValidationProblem(reported)
  return value
}

/** The domain's value of a document. @throws Problem with every error of the document that is looked for */
export function readDocument(job: ReadJob, gate: XmlGate): ReadDocument {
  const bytes = bufferOf(job)
  const schema = schemaOf(job)
  const value = readValue(accept(job, bytes, schema, gate), schema, job.limits)
  return { text: JSON.stringify(value), digest: createHash('sha256').update(bytes).digest('hex') }
}

/** Where places of a document are, which was accepted before, in the sender's notation. */
export function locateInDocument(job: LocateJob): readonly Location[] {
  const bytes = bufferOf(job)
  if (job.notation === 'xml') return job.places.map(locateAmong(scan(bytes.toString('utf8'), noLimits)))
  const { root } = readTreeSource(parseTree(job.notation, bytes), schemaOf(job), job.limits.marks)
  return job.places.map((place) => originOf(root, place))
}
