import { requiredRow } from '../required-row.ts'
import { keyColumns, newKeyId } from '../rows.ts'
import type { Connection } from './connection.ts'
import { type KeyRow, toKey } from './rows.ts'
import type { Writes } from './write-verbs.ts'

export function makeKeyWrites(db: Connection): Writes<'createKey' | 'revokeKey' | 'touchKeys'> {
  const insert = db.prepare<[string, string, string, string, number, number | null], KeyRow>(
    `INSERT INTO api_key (id, customer, scopes, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING ${keyColumns}`
  )
  const revoke = db.prepare<[number, string]>('UPDATE api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')
  const touch = db.prepare<[number, string]>('UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?')

  return {
    createKey({ customer, scopes, hash, expiresAt }) {
      const row = insert.get(newKeyId(), customer, JSON.stringify(scopes), hash, Date.now(), expiresAt ?? null)
      return toKey(requiredRow(row))
    },
    revokeKey(id) {
      return revoke.run(Date.now(), id).changes === 1
    },
    touchKeys(uses) {
      for (const { id, at } of uses) touch.run(at, id)
    }
  }
}
