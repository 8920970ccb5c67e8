import { fromJson, jsonOf, stringOf } from '../../domain/deferred.ts'
import { type KeyedAnswer, keyRetention, type Remembered, sweptPerKey } from '../../domain/idempotency.ts'
import type { Idempotency } from '../../domain/store.ts'
import { type KeyedOutcome, keyedAnswer, keyedColumns } from '../keyed-answers.ts'
import type { Queries } from './database.ts'
import { ConcurrentChange } from './failures.ts'

/** A key whose answer is not read yet. */
interface StoredKey extends Idempotency {
  /** Bytes of the answer. Null if no command repeats the first request, because then the answer is not needed. */
  readonly size: number | null
}

interface AnsweredKey extends Idempotency {
  readonly answer: KeyedAnswer
}

/** The Idempotency-Keys of a batch of orders: those that were used before, and those that the batch adds. */
export class IdempotencyKeys {
  readonly #used = new Map<string, StoredKey | AnsweredKey>()
  readonly #new: AnsweredKey[] = []

  /** Reads which keys were used before, without their answers. */
  static async read({ query }: Queries, keys: readonly Idempotency[]): Promise<IdempotencyKeys> {
    const used = new IdempotencyKeys()
    if (keys.length === 0) return used
    const rows = await query<StoredKey>(
      `SELECT i.scope, i.key, i.fingerprint,
          CASE WHEN i.fingerprint = ANY(w.fingerprints) THEN octet_length(i.snapshot::text) END AS size
        FROM idempotency i JOIN (
          SELECT u.scope, u.key, array_agg(u.fingerprint) AS fingerprints
            FROM unnest($1::text[], $2::text[], $3::text[]) AS u (scope, key, fingerprint) GROUP BY u.scope, u.key
        ) w ON i.scope = w.scope AND i.key = w.key`,
      columnsOf(keys)
    )
    for (const row of rows) used.#used.set(name(row), row)
    return used
  }

  isUsed(key: Idempotency): boolean {
    return this.#used.has(name(key))
  }

  /** Bytes that must be read to answer a request: none if the key was used for another one, which is refused. */
  sizeOf(key: Idempotency): number {
    return this.#unread(key)?.size ?? 0
  }

  /** Reads the answers to requests that repeat the first ones of their keys. */
  async readAnswers({ query }: Queries, keys: readonly Idempotency[]): Promise<void> {
    const unread = [...new Set(keys.flatMap((key) => this.#unread(key) ?? []))]
    if (unread.length === 0) return
    const rows = await query<Idempotency & { readonly outcome: KeyedOutcome; readonly snapshot: string }>(
      `SELECT i.scope, i.key, i.fingerprint, i.outcome, i.snapshot FROM idempotency i
        JOIN unnest($1::text[], $2::text[], $3::text[]) AS w (scope, key, fingerprint)
          ON i.scope = w.scope AND i.key = w.key AND i.fingerprint = w.fingerprint`,
      columnsOf(unread)
    )
    if (rows.length < unread.length) throw new ConcurrentChange('a key was deleted after the size of its answer was read')
    for (const { outcome, snapshot, ...row } of rows)
      this.#used.set(name(row), { ...row, answer: keyedAnswer(outcome, fromJson(snapshot)) })
  }

  #unread(key: Idempotency): StoredKey | undefined {
    const used = this.#used.get(name(key))
    return used && !('answer' in used) && used.fingerprint === key.fingerprint ? used : undefined
  }

  /** Finds what is remembered under a key. Its `answer` throws if it was not read, because the request does not repeat the first one. */
  find(idempotency: Idempotency): Remembered | undefined {
    const used = this.#used.get(name(idempotency))
    return (
      used && {
        fingerprint: used.fingerprint,
        get answer() {
          if ('answer' in used) return used.answer
          throw new Error('the answer of a key was not read')
        }
      }
    )
  }

  keep(idempotency: Idempotency, answer: KeyedAnswer): void {
    const row = { ...idempotency, answer }
    this.#used.set(name(row), row)
    this.#new.push(row)
  }

  /**
   * Sends the new rows without waiting for the answer. They are in the order of their keys, as on every replica.
   * @param at the time by the database's clock. It is a value, because PostgreSQL uses no index for a volatile function
   */
  write({ query }: Queries, at: number): void {
    if (this.#new.length === 0) return
    const rows = this.#new.toSorted((a, b) => (name(a) < name(b) ? -1 : 1))
    const columns = rows.map(({ answer }) => keyedColumns(answer))
    void query(
      `INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot, outcome)
        SELECT n.scope, n.key, n.fingerprint, $6, n.snapshot, n.outcome
        FROM unnest($1::text[], $2::text[], $3::text[], $4::json[], $5::text[]) AS n (scope, key, fingerprint, snapshot, outcome)`,
      [...columnsOf(rows), columns.map(({ snapshot }) => stringOf(jsonOf(snapshot))), columns.map(({ outcome }) => outcome), at]
    )
    // Replicas skip rows that another one is deleting.
    void query(
      `DELETE FROM idempotency WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotency WHERE kept_at < $1 ORDER BY kept_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
      [at - keyRetention, sweptPerKey * rows.length]
    )
  }
}

/** The arrays of scopes, keys and fingerprints. */
function columnsOf(keys: readonly Idempotency[]): string[][] {
  return [keys.map(({ scope }) => scope), keys.map(({ key }) => key), keys.map(({ fingerprint }) => fingerprint)]
}

function name({ scope, key }: Pick<Idempotency, 'scope' | 'key'>): string {
  return JSON.stringify([scope, key])
}
