/** The messages between the serving process and the document process. All of them are plain data. */

import type { AnswerContext, Result } from '../dialects/answers.ts'
import type { AnswerBasis } from '../dialects/buyer-document.ts'
import type { BuyerSubmission } from '../dialects/submission.ts'
import type { JsonText } from '../domain/deferred.ts'
import type { ChangedLines, LineChange } from '../domain/line-changes.ts'
import type { HttpProblemCode } from '../http/problem-codes.ts'
import type { Context } from '../representations/representation.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { Place } from '../schemas/element.ts'

export type Notation = 'xml' | 'json' | 'form'

/** A document as the client sent it. */
export interface SentDocument {
  readonly notation: Notation
  readonly bytes: Uint8Array
  /** Its Content-Type says that it is in US-ASCII. */
  readonly isAscii?: boolean
}

export interface DocumentLimits {
  readonly maxOrderItems: number
  /** The most elements, attributes and comments that a document may have together. */
  readonly marks: number
}

/** Validates a document against its schema and turns it into the domain's value. */
export interface ReadJob extends SentDocument {
  readonly kind: 'read'
  /** A name in `documentSchemas`. */
  readonly schema: string
  readonly limits: DocumentLimits
}

/** Finds places of a document that was read before. */
export interface LocateJob extends Omit<ReadJob, 'kind'> {
  readonly kind: 'locate'
  readonly places: readonly Place[]
}

/** Parses the fields of a form. */
export interface FieldsJob {
  readonly kind: 'fields'
  readonly bytes: Uint8Array
}

/** Writes a representation of a value. */
export interface WriteJob {
  readonly kind: 'write'
  /** A name in `writable`. */
  readonly resource: string
  readonly mediaType: string
  /** The value as JSON. */
  readonly text: JsonText
  readonly context: Context
}

/** Finds whether a purchase order has the same content as an existing order. It names the products by the same ids. */
export interface CompareJob {
  readonly kind: 'compare'
  /** Both orders as JSON. */
  readonly wanted: JsonText
  readonly active: JsonText
  readonly currency: string
}

/** Changes single lines of an order. */
export interface ChangeLinesJob {
  readonly kind: 'change-lines'
  /** The order and the purchase order with the changes, as JSON. */
  readonly before: JsonText
  readonly document: JsonText
  readonly changes: readonly LineChange[]
}

/** Writes an answer about an order in the vocabulary of its buyer. */
export interface AnswerJob {
  readonly kind: 'answer'
  /** The order as JSON. */
  readonly text: JsonText
  readonly basis: AnswerBasis
  readonly context: AnswerContext
  /** The result of the document, without its order. Absent: the answer has the present state of the order. */
  readonly done?: Omit<Extract<Result, { readonly order: unknown }>, 'order'>
}

export type Job = AnswerJob | ReadJob | LocateJob | FieldsJob | WriteJob | CompareJob | ChangeLinesJob

/** Whether a job reads a document for the first time. The sender decides what that costs, and nobody knows it yet. */
export function isFirstReading({ kind }: Job): boolean {
  return kind === 'read' || kind === 'fields'
}

/** A Problem as plain data. */
export interface Refusal {
  readonly code: HttpProblemCode
  readonly detail: string
  readonly faults: readonly LocatedFault[]
  /** Present when the document was in a buyer's vocabulary, and so is the answer. */
  readonly buyer?: BuyerSubmission
}

export interface ReadDocument {
  /** JSON of the domain's value. */
  readonly text: JsonText
  /** The properties of the value that its schema lists as known. */
  readonly known?: Readonly<Record<string, unknown>>
  /** The id of the resource that the document names, if its schema has an `identity`. */
  readonly named?: string
  /** SHA-256 of the bytes, hexadecimal. */
  readonly digest: string
  readonly buyer?: BuyerSubmission
}

export type Location = Pick<LocatedFault, 'line' | 'path' | 'item'>

/** The fields of a form that fit into a page. */
export interface FormFields {
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Whether some fields did not fit. */
  readonly isCut: boolean
}

interface Results {
  readonly read: ReadDocument
  readonly locate: readonly Location[]
  readonly fields: FormFields
  readonly write: Uint8Array
  readonly compare: boolean
  /** Undefined while the vocabulary has no word for the order's status. */
  readonly answer: Uint8Array | undefined
  /** The changed order as JSON. */
  readonly 'change-lines': Omit<ChangedLines, 'order'> & { readonly text: JsonText }
}

export type ResultOf<J extends Job> = Results[J['kind']]

/** `failed` is the stack of an unexpected error, for the log. */
export type JobResult = { readonly result: Results[Job['kind']] } | { readonly refusal: Refusal } | { readonly failed: string }

/** A job's result and its cost. */
export type FinishedJob = JobResult & {
  /** Milliseconds of processor time. The start-up time of the first job of a kind is not included. */
  readonly spent: number
}

export type ToProcess = readonly Job[]
export type FromProcess = 'ready' | readonly FinishedJob[]
