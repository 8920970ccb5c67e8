/** Decides which order a document in a buyer's vocabulary (UBL, cXML) may place, change or cancel. */

import { DomainError, type Fault } from './errors.ts'
import { compare, decimal } from './money.ts'
import { canBecome, isActive, type Objections, type Order, type OrderDocument } from './order.ts'
import { refusedTransition } from './order-writes.ts'
import type { Precondition } from './preconditions.ts'
import { hasObjections, joinObjections, noObjections, refusal } from './refusing.ts'

/** The document's reference to an order, with the place of each value. The faults of a value carry its place. */
export interface BuyerReference {
  /** The buyer's number of the order. */
  readonly number?: string
  readonly numberAt?: DocumentPlace
  /** The buyer's number of the change. */
  readonly revision?: string
  readonly revisionAt?: DocumentPlace
  readonly objections?: Objections
}

export interface DocumentPlace {
  readonly line: number
  readonly path: string
}

export function unknownOrder({ number, numberAt }: BuyerReference): Objections {
  const detail = `You have no order with the number ${JSON.stringify(number)}. Name the order by the number that it was placed with.`
  return { invalid: [{ code: 'order-unknown', detail, ...numberAt }], refused: [] }
}

export function unknownCopy({ numberAt }: BuyerReference): Objections {
  const detail = 'The document says that it is a copy, but you have no active order with this number and content. Send the original.'
  return { invalid: [{ code: 'copy-of-unknown-order', detail, ...numberAt }], refused: [] }
}

/** Whether the last document of an order had the same bytes. */
export function isRepeated(digest: string | undefined, last: OrderDocument | undefined): last is OrderDocument {
  return last !== undefined && last.digest === digest
}

/**
 * The outcome of the last document of an order, when it is sent again. It placed the order if the order still has its first version.
 * Otherwise it counts as a change: nothing tells whether the document made that version, or the seller did since.
 */
export function repeatedOutcome({ version }: Pick<Order, 'version'>): 'placed' | 'changed' {
  return version === 1 ? 'placed' : 'changed'
}

/**
 * The objection to a new order that has the number of a cancelled or rejected one. A buyer's system may repeat an order after it was
 * cancelled, for example with another payloadID. That places no new order. A cancelled order in the shop's own vocabulary frees its
 * number, so then there is no objection. `decidePlacing` refuses the same bytes.
 * @param last the document of that order
 * @param digest the digest of the new document
 */
export function endedOrder(
  { id, status }: Pick<Order, 'id' | 'status'>,
  last: OrderDocument | undefined,
  digest: string | undefined,
  { numberAt }: BuyerReference
): Objections {
  if (isActive(status) || !last || isRepeated(digest, last)) return noObjections
  const detail = `The order of this number, ${id}, is ${status}. To order again, send an order with a new number.`
  return { invalid: [], refused: [{ code: 'sent-before', detail, ...numberAt }] }
}

/** The objection to a change that is not newer than the last one. */
export function outdated({ revision, revisionAt }: BuyerReference, document: OrderDocument | undefined): Objections {
  const last = document?.revision
  if (revision !== undefined && !isVersion(revision)) {
    const detail = `The version ${JSON.stringify(revision)} is not a number. Send a number that is above that of the last change.`
    return { invalid: [{ code: 'invalid-value', detail, ...revisionAt }], refused: [] }
  }
  if (revision === undefined || last === undefined || compare(decimal(revision), decimal(last)) > 0) return noObjections
  const detail = `The order was already changed by version ${last}; this is version ${revision}. Send a higher version.`
  return { invalid: [], refused: [{ code: 'outdated-revision', detail, ...revisionAt }] }
}

function isVersion(revision: string): boolean {
  return /^\d{1,15}(\.\d{1,15})?$/.test(revision)
}

/** The revision that is stored with an order's document: one that later changes can be compared with. */
export function storedRevision({ revision }: BuyerReference): string | undefined {
  return revision !== undefined && isVersion(revision) ? revision : undefined
}

/** The number of the last change once a document is stored. A document without a number keeps that of `last`, so that earlier changes stay outdated. */
export function latestRevision({ revision }: BuyerReference, last: OrderDocument | undefined): string | undefined {
  return revision ?? last?.revision
}

/**
 * Whether the store must cancel an order for a document. It need not if the order is cancelled already, or if the document is
 * a test of a cancellation that is allowed.
 * @throws DomainError if there are objections to the document; it then also lists a status that forbids the cancellation
 */
export function decideCancellation(
  buyer: BuyerReference,
  { status }: Pick<Order, 'status'>,
  last: OrderDocument | undefined,
  isTest: boolean
): boolean {
  if (status === 'cancelled' && !buyer.objections) return false
  const isAllowed = canBecome(status, 'cancelled')
  const objections = joinObjections(outdated(buyer, last), buyer.objections)
  if (!hasObjections(objections)) return !(isTest && isAllowed)
  const isFinal = status !== 'cancelled' && !isAllowed
  const detail = refusedTransition(status, 'cancelled').message
  throw refusal(joinObjections(objections, isFinal ? { invalid: [], refused: [{ detail }] } : noObjections))
}

/** A cancellation without a revision accepts any version of the order. One with a revision accepts only the version that `outdated` checked. */
export function cancellationPrecondition({ revision }: BuyerReference, { version }: Pick<Order, 'version'>): Precondition {
  return revision === undefined ? {} : { version }
}

/** An error whose faults all have a place in the document: by default that of the order's number. */
export function locatedAtNumber(error: DomainError, { numberAt }: BuyerReference): DomainError {
  const { code, message, faults, orderId } = error
  if (!numberAt || (faults.length > 0 && faults.every((fault) => fault.at || 'line' in fault))) return error
  const named: readonly Fault[] = faults.length > 0 ? faults : [{ detail: message }]
  const located = named.map((fault) => (fault.at || 'line' in fault ? fault : { ...fault, ...numberAt }))
  return new DomainError(code, message, { faults: located, ...(orderId === undefined ? {} : { orderId }) })
}

/** Moves faults from the items of the whole order to the lines of the document, which has only some of them. */
export function locatedInDocument({ code, message, faults }: DomainError, positions: readonly (number | undefined)[]): DomainError {
  const moved = faults.map(({ at, ...fault }): Fault => {
    if (at?.[0] !== 'item') return at ? { ...fault, at } : fault
    const position = positions[Number(at[1]) - 1]
    // A line that the document does not name has no place in it.
    return position === undefined ? fault : { ...fault, at: ['item', position, ...at.slice(2)] }
  })
  return new DomainError(code, message, { faults: moved })
}
