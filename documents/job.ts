/** What the serving process asks of the document process, and what it is answered. All of it is plain data. */

import type { HttpProblemCode } from '../http/problem-types.ts'
import type { Context } from '../representations/representation.ts'
import type { LocatedFault, ReadingLimits } from '../schemas/document.ts'
import type { Place } from '../schemas/element.ts'

export type Notation = 'xml' | 'json' | 'form'

/** A document as it was sent. */
export interface Sent {
  readonly notation: Notation
  readonly bytes: Uint8Array
}

export interface DocumentLimits extends ReadingLimits {
  /** The most elements, attributes and comments of a document. */
  readonly marks: number
}

/** Judge a document by its schema and turn it into the domain's value. */
export interface ReadJob extends Sent {
  readonly kind: 'read'
  /** A name in `documentSchemas`. */
  readonly schema: string
  readonly limits: DocumentLimits
}

/** Find places of a document that was read before. */
export interface LocateJob extends Omit<ReadJob, 'kind'> {
  readonly kind: 'locate'
  readonly places: readonly Place[]
}

/** Take the fields of a form apart. */
export interface FieldsJob {
  readonly kind: 'fields'
  readonly bytes: Uint8Array
}

/** Write a representation of a value. */
export interface WriteJob {
  readonly kind: 'write'
  /** A name in `writable`. */
  readonly resource: string
  readonly mediaType: string
  /** The value as JSON. */
  readonly text: string
  readonly context: Context
}

/** Find whether a purchase order says the same as an order that stands, whose products it names by their ids. */
export interface CompareJob {
  readonly kind: 'compare'
  /** The two as JSON. */
  readonly wanted: string
  readonly active: string
  readonly currency: string
}

export type Job = ReadJob | LocateJob | FieldsJob | WriteJob | CompareJob

/** A Problem as plain data. */
export interface Refusal {
  readonly code: HttpProblemCode
  readonly detail: string
  readonly faults: readonly LocatedFault[]
}

export interface ReadDocument {
  /** JSON of the domain's value. */
  readonly text: string
  /** SHA-256 of the bytes, hexadecimal. */
  readonly digest: string
}

export type Location = { readonly line?: number; readonly path?: string }

/** A form's fields, as far as they fit into a page. */
export interface FormFields {
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Whether there are more. */
  readonly isCut: boolean
}

interface Results {
  readonly read: ReadDocument
  readonly locate: readonly Location[]
  readonly fields: FormFields
  readonly write: Uint8Array
  readonly compare: boolean
}

export type ResultOf<J extends Job> = Results[J['kind']]

/** `failed` is a defect of ours, with its stack for the log. */
export type Ending = { readonly result: Results[Job['kind']] } | { readonly refusal: Refusal } | { readonly failed: string }

/** The outcome of one job. */
export type Outcome = Ending & {
  /** Milliseconds of processor time; absent for the first of a kind, which also compiles its schema. */
  readonly spent?: number
}

export type ToProcess = readonly Job[]
export type FromProcess = 'ready' | readonly Outcome[]
