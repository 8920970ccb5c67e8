import type { Fault } from '../domain/errors.ts'
import type { FaultCode } from '../domain/fault-codes.ts'
import type { Element, Place } from './element.ts'
import type { Xsd } from './vocabulary.ts'

/** Reports a fault that the XSD cannot express. */
export type Report = (at: Place, detail: string, code?: FaultCode) => void

/**
 * The schema of a request body. A route names it where Fastify expects a JSON Schema: `schema: { body: purchaseOrder }`.
 * The handler gets the value that `read` returns as its body.
 */
export interface DocumentSchema<T> {
  /** Unique. The document process looks the schema up by it. */
  readonly name: string
  readonly xsd: Xsd
  /** The accepted root elements. JSON and forms have no root element: they are read as the first one. */
  readonly roots: readonly [string, ...string[]]
  /** Whether documents in the vocabularies of buyers' systems (UBL, cXML) are taken too. */
  readonly takesOthers?: true
  /** Whether a browser's form can be the document. */
  readonly forms?: true
  /** Whether the `item` elements of its root are lines of an order, whose number is limited. */
  readonly hasOrderItems?: true
  /** The attribute of its root that identifies the resource, if the value does not have it. */
  readonly identity?: string
  /** Elements whose JSON array must not be empty, because leaving them out has another meaning: a shipment without items ships all that is left. */
  readonly noEmpty?: readonly string[]
  /** The properties of its value that the serving thread reads. It does not parse a large value for them. */
  readonly known?: readonly string[]
  /** Turns a document that is valid against the XSD into its domain value. Each reported fault makes the document invalid. */
  read(root: Element, report: Report): T
}

export function isDocumentSchema(schema: unknown): schema is DocumentSchema<unknown> {
  return typeof schema === 'object' && schema !== null && 'xsd' in schema && 'roots' in schema
}

/** A fault and its place: a line, unless the document is a form, and a path in the sender's notation. */
export interface LocatedFault extends Fault {
  readonly line?: number
  readonly path?: string
  /** The sender's own number of the order line, in a buyer's document. */
  readonly item?: string
}
