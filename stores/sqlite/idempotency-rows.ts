import { jsonOf, stringOf } from '../../domain/deferred.ts'
import { type KeyedAnswer, keyRetention, type Remembered, sweptPerKey } from '../../domain/idempotency.ts'
import type { Idempotency } from '../../domain/store.ts'
import { type KeyedOutcome, keyedAnswer, keyedColumns } from '../keyed-answers.ts'
import type { Connection } from './connection.ts'

export interface IdempotencyRows {
  /** Finds what is remembered under a key. The answer is read only when it is needed. A request with another fingerprint is refused without it. */
  find(idempotency: Idempotency): Remembered | undefined
  keep(idempotency: Idempotency, answer: KeyedAnswer): void
}

export function makeIdempotencyRows(db: Connection): IdempotencyRows {
  const select = db.prepare<[string, string], { fingerprint: string; outcome: KeyedOutcome }>(
    'SELECT fingerprint, outcome FROM idempotency WHERE scope = ? AND key = ?'
  )
  const selectSnapshot = db.prepare<[string, string], string>('SELECT snapshot FROM idempotency WHERE scope = ? AND key = ?').pluck()
  const insert = db.prepare<[string, string, string, number, string, string]>(
    'INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot, outcome) VALUES (?, ?, ?, ?, ?, ?)'
  )
  const sweep = db.prepare<[number]>(
    `DELETE FROM idempotency WHERE seq IN (SELECT seq FROM idempotency WHERE kept_at < ? ORDER BY kept_at LIMIT ${sweptPerKey})`
  )

  return {
    find({ scope, key }) {
      const row = select.get(scope, key)
      return (
        row && {
          fingerprint: row.fingerprint,
          get answer() {
            return keyedAnswer(row.outcome, JSON.parse(selectSnapshot.get(scope, key) ?? 'null'))
          }
        }
      )
    },
    keep({ scope, key, fingerprint }, answer) {
      const now = Date.now()
      const { outcome, snapshot } = keyedColumns(answer)
      insert.run(scope, key, fingerprint, now, stringOf(jsonOf(snapshot)), outcome)
      sweep.run(now - keyRetention)
    }
  }
}
