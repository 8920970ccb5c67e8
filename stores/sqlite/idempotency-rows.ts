import { jsonOf, stringOf } from '../../domain/deferred.ts'
import { keyRetention, type Remembered, sweptPerKey } from '../../domain/idempotency.ts'
import type { Order } from '../../domain/order.ts'
import type { Shipment } from '../../domain/shipping.ts'
import type { Idempotency, PlacingAnswer, PlacingOutcome } from '../../domain/store.ts'
import type { Connection } from './connection.ts'

export interface IdempotencyRows {
  find(idempotency: Idempotency): Remembered<PlacingAnswer> | undefined
  keep(idempotency: Idempotency, answer: PlacingAnswer): void
  findShipment(idempotency: Idempotency): Remembered<{ readonly shipment: Shipment }> | undefined
  keepShipment(idempotency: Idempotency, shipment: Shipment): void
}

export function makeIdempotencyRows(db: Connection): IdempotencyRows {
  const select = db.prepare<[string, string], { fingerprint: string; outcome: PlacingOutcome }>(
    'SELECT fingerprint, outcome FROM idempotency WHERE scope = ? AND key = ?'
  )
  const selectSnapshot = db.prepare<[string, string], string>('SELECT snapshot FROM idempotency WHERE scope = ? AND key = ?').pluck()
  const insert = db.prepare<[string, string, string, number, string, string]>(
    'INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot, outcome) VALUES (?, ?, ?, ?, ?, ?)'
  )
  const sweep = db.prepare<[number]>(
    `DELETE FROM idempotency WHERE seq IN (SELECT seq FROM idempotency WHERE kept_at < ? ORDER BY kept_at LIMIT ${sweptPerKey})`
  )

  function write({ scope, key, fingerprint }: Idempotency, snapshot: object, outcome: string): void {
    const now = Date.now()
    insert.run(scope, key, fingerprint, now, stringOf(jsonOf(snapshot)), outcome)
    sweep.run(now - keyRetention)
  }

  /** The answer is read only when it is needed. A request with another fingerprint is refused without it. */
  function remembered<Answer>({ scope, key }: Idempotency, answerOf: (snapshot: unknown, outcome: PlacingOutcome) => Answer) {
    const row = select.get(scope, key)
    return (
      row && {
        fingerprint: row.fingerprint,
        get answer() {
          return answerOf(JSON.parse(selectSnapshot.get(scope, key) ?? 'null'), row.outcome)
        }
      }
    )
  }

  return {
    find: (idempotency) => remembered(idempotency, (order, outcome) => ({ order: order as Order, outcome })),
    keep(idempotency, { order, outcome }) {
      write(idempotency, order, outcome)
    },
    findShipment: (idempotency) => remembered(idempotency, (shipment) => ({ shipment: shipment as Shipment })),
    keepShipment(idempotency, shipment) {
      write(idempotency, shipment, 'shipped')
    }
  }
}
