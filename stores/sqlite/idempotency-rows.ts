import { DomainError } from '../../domain/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { Idempotency } from '../../domain/store.ts'
import type { Connection } from './connection.ts'

/** Milliseconds that a key is remembered: twice what the interface promises. */
const lifetime = 48 * 60 * 60 * 1000

export interface IdempotencyRows {
  /** The order as it was when the key was first used. @throws DomainError `idempotency-key-reused` */
  find(idempotency: Idempotency): Order | undefined
  keep(idempotency: Idempotency, order: Order): void
}

export function makeIdempotencyRows(db: Connection): IdempotencyRows {
  const select = db.prepare<[string, string], { fingerprint: string; snapshot: string }>(
    'SELECT fingerprint, snapshot FROM idempotency WHERE scope = ? AND key = ?'
  )
  const insert = db.prepare<[string, string, string, number, string]>(
    'INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot) VALUES (?, ?, ?, ?, ?)'
  )
  // Each row that comes sweeps out up to two that have had their time: the table shrinks as it is used, without a timer.
  const sweep = db.prepare<[number]>(
    'DELETE FROM idempotency WHERE seq IN (SELECT seq FROM idempotency ORDER BY seq LIMIT 2) AND kept_at < ?'
  )

  return {
    find({ scope, key, fingerprint }) {
      const row = select.get(scope, key)
      if (row && row.fingerprint !== fingerprint) {
        throw new DomainError('idempotency-key-reused', 'This Idempotency-Key was sent before with another request.')
      }
      return row && JSON.parse(row.snapshot)
    },
    keep({ scope, key, fingerprint }, order) {
      const now = Date.now()
      insert.run(scope, key, fingerprint, now, JSON.stringify(order))
      sweep.run(now - lifetime)
    }
  }
}
