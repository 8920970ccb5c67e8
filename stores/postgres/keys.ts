import type { Store } from '../../domain/store.ts'
import { requiredRow } from '../required-row.ts'
import { keyColumns, newKeyId } from '../rows.ts'
import type { Database } from './database.ts'
import { type KeyRow, now, toKey } from './rows.ts'

type KeyVerb = 'createKey' | 'keys' | 'revokeKey' | 'findKey' | 'touchKeys'

export function makeKeys(database: Database): Pick<Store, KeyVerb> {
  return {
    async createKey({ customer, scopes, hash, expiresAt }) {
      const [row] = await database.write<KeyRow>(
        `INSERT INTO api_key (id, customer, scopes, hash, created_at, expires_at) VALUES ($1, $2, $3, $4, ${now}, $5)
          RETURNING ${keyColumns}`,
        [newKeyId(), customer, scopes, hash, expiresAt ?? null]
      )
      return toKey(requiredRow(row))
    },
    async keys() {
      return (await database.query<KeyRow>(`SELECT ${keyColumns} FROM api_key ORDER BY created_at, id`)).map(toKey)
    },
    async revokeKey(id) {
      const rows = await database.write(`UPDATE api_key SET revoked_at = ${now} WHERE id = $1 AND revoked_at IS NULL RETURNING id`, [id])
      return rows.length === 1
    },
    async findKey(hash) {
      const [row] = await database.prepared<KeyRow>(`SELECT ${keyColumns} FROM api_key WHERE hash = $1`, [hash])
      return row && toKey(row)
    },
    async touchKeys(uses) {
      if (uses.length === 0) return
      // All replicas lock keys in the same order, so they wait for each other and never deadlock.
      await database.write(
        `WITH used AS (SELECT id, max(at) AS at FROM unnest($1::text[], $2::bigint[]) AS u (id, at) GROUP BY id),
          locked AS (SELECT k.id FROM api_key k WHERE k.id IN (SELECT id FROM used) ORDER BY k.id FOR UPDATE)
          UPDATE api_key k SET last_used_at = greatest(k.last_used_at, used.at) FROM used JOIN locked USING (id) WHERE k.id = used.id`,
        [uses.map(({ id }) => id), uses.map(({ at }) => at)]
      )
    }
  }
}
