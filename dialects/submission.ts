import type { Objections } from '../domain/order.ts'
import type { AnswerBasis, BuyerRequest, CxmlSender, LineChange } from './buyer-document.ts'

/**
 * What the serving thread knows of a document in a buyer's vocabulary. It is plain data. What the document orders is the
 * request's purchase order; that of a cancellation has no items.
 */
export interface BuyerSubmission {
  readonly kind: BuyerRequest['kind']
  /** The buyer's number of the order that the document changes or cancels. */
  readonly number?: string
  readonly revision?: string
  readonly placesUnknown?: true
  /** The document says that it is a copy. */
  readonly copies?: true
  /** Of `change-lines`, for each item: how it changes which line. */
  readonly lines?: readonly { readonly kind: LineChange['kind']; readonly lineId?: string }[]
  readonly answer: AnswerBasis
  /** The faults of the document by itself. Absent: none. */
  readonly objections?: Objections
  readonly sender?: CxmlSender
  /** The document says that it is only a test. */
  readonly isTest?: true
  /** The places of the order's number and of `revision` in the document. */
  readonly numberAt?: { readonly line: number; readonly path: string }
  readonly revisionAt?: { readonly line: number; readonly path: string }
  /** The document with its secrets masked. Absent: it has none. */
  readonly masked?: Uint8Array
}
