import { jsonOf } from '../../domain/deferred.ts'
import { keyRetention, type Remembered, sweptPerKey } from '../../domain/idempotency.ts'
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
  const select = db.prepare<[string, string], { fingerprint: string; snapshot: string; outcome: PlacingOutcome }>(
    'SELECT fingerprint, snapshot, outcome FROM idempotency WHERE scope = ? AND key = ?'
  )
  const insert = db.prepare<[string, string, string, number, string, string]>(
    'INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot, outcome) VALUES (?, ?, ?, ?, ?, ?)'
  )
  const sweep = db.prepare<[number]>(
    `DELETE FROM idempotency WHERE seq IN (SELECT seq FROM idempotency WHERE kept_at < ? ORDER BY kept_at LIMIT ${sweptPerKey})`
  )

  function write({ scope, key, fingerprint }: Idempotency, snapshot: object, outcome: string): void {
    const now = Date.now()
    insert.run(scope, key, fingerprint, now, jsonOf(snapshot), outcome)
    sweep.run(now - keyRetention)
  }

  return {
    find({ scope, key }) {
      const row = select.get(scope, key)
      return row && { fingerprint: row.fingerprint, answer: { order: JSON.parse(row.snapshot), outcome: row.outcome } }
    },
    keep(idempotency, { order, outcome }) {
      write(idempotency, order, outcome)
    },
    findShipment({ scope, key }) {
      const row = select.get(scope, key)
      return row && { fingerprint: row.fingerprint, answer: { shipment: JSON.parse(row.snapshot) } }
    },
    keepShipment(idempotency, shipment) {
      write(idempotency, shipment, 'shipped')
    }
  }
}
