import type { KeyedAnswer } from '../domain/idempotency.ts'
import type { Order } from '../domain/order.ts'
import type { Shipment } from '../domain/shipping.ts'
import type { PlacingOutcome } from '../domain/store.ts'

/** The column `outcome` of an Idempotency-Key. It also says what the snapshot is. */
export type KeyedOutcome = PlacingOutcome | 'shipped'

/** The columns of an answer. */
export interface KeyedColumns {
  readonly outcome: KeyedOutcome
  readonly snapshot: Order | Shipment
}

export function keyedColumns(answer: KeyedAnswer): KeyedColumns {
  return 'shipment' in answer ? { outcome: 'shipped', snapshot: answer.shipment } : { outcome: answer.outcome, snapshot: answer.order }
}

/** The answer that was stored. @param snapshot the parsed column */
export function keyedAnswer(outcome: KeyedOutcome, snapshot: unknown): KeyedAnswer {
  return outcome === 'shipped' ? { shipment: snapshot as Shipment } : { order: snapshot as Order, outcome }
}
