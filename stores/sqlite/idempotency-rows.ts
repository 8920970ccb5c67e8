import { DomainError } from '../../domain/errors.ts'
import type { Idempotency, PlacingAnswer, PlacingOutcome } from '../../domain/store.ts'
import type { Connection } from './connection.ts'

/** Milliseconds that a key is remembered: twice what the interface promises. */
const lifetime = 48 * 60 * 60 * 1000

export interface IdempotencyRows {
  /** What was answered when the key was first used. @throws DomainError `idempotency-key-reused` */
  find(idempotency: Idempotency): PlacingAnswer | undefined
  keep(idempotency: Idempotency, answer: PlacingAnswer): void
}

export function makeIdempotencyRows(db: Connection): IdempotencyRows {
  const select = db.prepare<[string, string], { fingerprint: string; snapshot: string; outcome: PlacingOutcome }>(
    'SELECT fingerprint, snapshot, outcome FROM idempotency WHERE scope = ? AND key = ?'
  )
  const insert = db.prepare<[string, string, string, number, string, string]>(
    'INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot, outcome) VALUES (?, ?, ?, ?, ?, ?)'
  )
  // Each row that comes sweeps out up to two that have had their time: the table shrinks as it is used, without a timer.
  const sweep = db.prepare<[number]>(
    'DELETE FROM idempotency WHERE seq IN (SELECT seq FROM idempotency WHERE kept_at < ? ORDER BY kept_at LIMIT 2)'
  )

  return {
    find({ scope, key, fingerprint }) {
      const row = select.get(scope, key)
      if (row && row.fingerprint !== fingerprint) {
        throw new DomainError('idempotency-key-reused', 'This Idempotency-Key was sent before with another request.')
      }
      return row && { order: JSON.parse(row.snapshot), outcome: row.outcome }
    },
    keep({ scope, key, fingerprint }, { order, outcome }) {
      const now = Date.now()
      insert.run(scope, key, fingerprint, now, JSON.stringify(order), outcome)
      sweep.run(now - lifetime)
    }
  }
}
