import type { LineChange } from '../domain/line-changes.ts'
import type { Objections } from '../domain/order.ts'
import type { AnswerBasis, BuyerRequest, CxmlSender } from './buyer-document.ts'

/**
 * The serving thread's knowledge of a document in a buyer's vocabulary, as plain data. The items of the document are in the
 * purchase order that is the request's body. A cancellation has none.
 */
export interface BuyerSubmission {
  readonly kind: BuyerRequest['kind']
  /** The buyer's number of the order that the document changes or cancels. */
  readonly number?: string
  readonly revision?: string
  readonly placesUnknown?: true
  /** The document is a copy of another. */
  readonly copies?: true
  /** The change that each item makes, if the kind is `change-lines`. */
  readonly lines?: readonly LineChange[]
  readonly answer: AnswerBasis
  /** The faults of the document itself. Absent: none. */
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
