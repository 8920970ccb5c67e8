/** The reasons for which a document in a buyer's vocabulary (UBL, cXML) is refused. */

import type { BuyerSubmission } from '../dialects/submission.ts'
import { DomainError, type Fault } from '../domain/errors.ts'
import { compare, decimal } from '../domain/money.ts'
import { canBecome, type Objections, type Order, type OrderDocument } from '../domain/order.ts'
import { refusedTransition } from '../domain/order-writes.ts'
import { joinObjections, noObjections, refusal } from '../domain/refusing.ts'

export function unknownOrder({ number, numberAt }: BuyerSubmission): Objections {
  const detail = `You have no order with the number ${JSON.stringify(number)}. Name the order by the number that it was placed with.`
  return { invalid: [{ code: 'order-unknown', detail, ...numberAt }], refused: [] }
}

export function unknownCopy({ numberAt }: BuyerSubmission): Objections {
  const detail = 'The document says that it is a copy, but you have no active order with this number and content. Send the original.'
  return { invalid: [{ code: 'copy-of-unknown-order', detail, ...numberAt }], refused: [] }
}

/** A buyer's system may repeat an order after it was cancelled, for example with another payloadID. That is no new order. */
export function endedOrder({ id, status }: Order, { numberAt }: BuyerSubmission): Objections {
  const detail = `The order of this number, ${id}, is ${status}. To order again, send an order with a new number.`
  return { invalid: [], refused: [{ code: 'sent-before', detail, ...numberAt }] }
}

/** The objection to a change that is not newer than the last one. */
export function outdated({ revision, revisionAt }: BuyerSubmission, document: OrderDocument | undefined): Objections {
  const last = document?.revision
  if (revision !== undefined && !isVersion(revision)) {
    const detail = `The version ${JSON.stringify(revision)} is not a number. Send a number that is above that of the last change.`
    return { invalid: [{ code: 'invalid-value', detail, ...revisionAt } as Fault], refused: [] }
  }
  if (revision === undefined || last === undefined || compare(decimal(revision), decimal(last)) > 0) return noObjections
  const detail = `The order has been changed by version ${last} already; this is version ${revision}. Send a version above it.`
  return { invalid: [], refused: [{ code: 'outdated-revision', detail, ...revisionAt } as Fault] }
}

export function isVersion(revision: string): boolean {
  return /^\d{1,15}(\.\d{1,15})?$/.test(revision)
}

/** @throws DomainError if there are objections to the document; it then also lists a status that forbids the cancellation */
export function refuseCancellation(objections: Objections, { status }: Order): void {
  if (objections.invalid.length + objections.refused.length === 0) return
  const isFinal = status !== 'cancelled' && !canBecome(status, 'cancelled')
  const detail = refusedTransition(status, 'cancelled').message
  throw refusal(joinObjections(objections, isFinal ? { invalid: [], refused: [{ detail }] } : noObjections))
}

/** An error whose faults all have a place in the document: by default that of the order's number. */
export function locatedAtNumber(error: DomainError, { numberAt }: BuyerSubmission): DomainError {
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
