import type { Fault } from '../domain/errors.ts'
import type { Element, Place } from './element.ts'
import type { ElementType, Xsd } from './vocabulary.ts'

/** Says what is wrong with a document beyond what its XSD can say. */
export type Report = (at: Place, detail: string, code?: string) => void

export interface ReadingLimits {
  readonly maxOrderItems: number
}

/**
 * The contract of a request body, given where a Fastify route gives its JSON Schema: `schema: { body: purchaseOrder }`.
 * The body that the handler sees is what `read` makes of it.
 */
export interface DocumentSchema<T> {
  /** Unique: the document process knows the schema by it. */
  readonly name: string
  readonly xsd: Xsd
  /** The root elements accepted; JSON and forms, which have no root of their own, are read as the first. */
  readonly roots: readonly [string, ...string[]]
  /** Whether a browser's form can be the document. */
  readonly forms?: true
  /** Turns a document that is valid against the XSD into its domain value; what it reports makes the document invalid. */
  read(root: Element, report: Report, limits: ReadingLimits): T
}

export function isDocumentSchema(schema: unknown): schema is DocumentSchema<unknown> {
  return typeof schema === 'object' && schema !== null && 'xsd' in schema && 'roots' in schema
}

export function rootType(schema: DocumentSchema<unknown>, name: string = schema.roots[0]): ElementType {
  const type = schema.xsd.vocabulary.get(name)
  if (!type) throw new Error(`${schema.xsd.name}.xsd declares no ${name}`)
  return type
}

/** A fault with where it is: a line where the document has lines, a path in the sender's notation. */
export interface LocatedFault extends Fault {
  readonly line?: number
  readonly path?: string
}
