import { defer, jsonOf } from '../../domain/deferred.ts'
import { keyRetention, type Remembered, sweptPerKey } from '../../domain/idempotency.ts'
import type { Order } from '../../domain/order.ts'
import type { Shipment } from '../../domain/shipping.ts'
import type { Idempotency, PlacingAnswer, PlacingOutcome } from '../../domain/store.ts'
import type { Queries } from './database.ts'

/** A key with what it answers: an order, or a shipment, which the scope of the key tells. */
interface UsedKey extends Idempotency {
  readonly answer: Order | Shipment
  readonly outcome: PlacingOutcome | 'shipped'
}

/** A row of the query. `known` is JSON of the properties that can be read without parsing the snapshot. */
type StoredRow = Omit<UsedKey, 'answer'> & { readonly snapshot: string; readonly known: string }

/** SQL for the properties of a snapshot that the serving thread can read without parsing it: see `knownOf`. */
const known = ['id', 'version', 'customer', 'orderNumber', 'status', 'placedAt', 'modifiedAt', 'hasDocument']
  .map((name) => `'${name}', i.snapshot -> '${name}'`)
  .join(', ')

function usedKeyOf({ snapshot, known, ...row }: StoredRow): UsedKey {
  const members = Object.entries(JSON.parse(known) as Order)
  // A property that the snapshot does not have is null here. Undefined marks it as known to be missing.
  return { ...row, answer: defer<Order>(snapshot, Object.fromEntries(members.map(([name, value]) => [name, value ?? undefined]))) }
}

/** The Idempotency-Keys of a batch of orders: those that were used before, and those that the batch adds. */
export class IdempotencyKeys {
  readonly #used = new Map<string, UsedKey>()
  readonly #new: UsedKey[] = []

  static async read({ query }: Queries, keys: readonly Idempotency[]): Promise<IdempotencyKeys> {
    const used = new IdempotencyKeys()
    if (keys.length === 0) return used
    const rows = await query<StoredRow>(
      `SELECT i.scope, i.key, i.fingerprint, i.snapshot, json_build_object(${known}) AS known, i.outcome FROM idempotency i
        JOIN (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS u (scope, key)) w ON i.scope = w.scope AND i.key = w.key`,
      [keys.map(({ scope }) => scope), keys.map(({ key }) => key)]
    )
    for (const row of rows) used.#used.set(name(row), usedKeyOf(row))
    return used
  }

  find(idempotency: Idempotency): Remembered<PlacingAnswer> | undefined {
    const used = this.#used.get(name(idempotency))
    if (!used) return undefined
    return { fingerprint: used.fingerprint, answer: { order: used.answer as Order, outcome: used.outcome as PlacingOutcome } }
  }

  keep(idempotency: Idempotency, { order, outcome }: PlacingAnswer): void {
    this.#add({ ...idempotency, answer: order, outcome })
  }

  findShipment(idempotency: Idempotency): Remembered<{ readonly shipment: Shipment }> | undefined {
    const used = this.#used.get(name(idempotency))
    return used && { fingerprint: used.fingerprint, answer: { shipment: JSON.parse(jsonOf(used.answer)) } }
  }

  keepShipment(idempotency: Idempotency, shipment: Shipment): void {
    this.#add({ ...idempotency, answer: shipment, outcome: 'shipped' })
  }

  #add(row: UsedKey): void {
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
    void query(
      `INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot, outcome)
        SELECT n.scope, n.key, n.fingerprint, $6, n.snapshot, n.outcome
        FROM unnest($1::text[], $2::text[], $3::text[], $4::json[], $5::text[]) AS n (scope, key, fingerprint, snapshot, outcome)`,
      [
        rows.map(({ scope }) => scope),
        rows.map(({ key }) => key),
        rows.map(({ fingerprint }) => fingerprint),
        rows.map(({ answer }) => jsonOf(answer)),
        rows.map(({ outcome }) => outcome),
        at
      ]
    )
    // Replicas skip rows that another one is deleting.
    void query(
      `DELETE FROM idempotency WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotency WHERE kept_at < $1 ORDER BY kept_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
      [at - keyRetention, sweptPerKey * rows.length]
    )
  }
}

function name({ scope, key }: Pick<Idempotency, 'scope' | 'key'>): string {
  return JSON.stringify([scope, key])
}
