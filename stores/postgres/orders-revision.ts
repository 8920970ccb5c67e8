import { ordersAudience } from '../../domain/event.ts'
import { lookupsOf } from '../event-rows.ts'
import type { Database } from './database.ts'
import { newestHeard } from './event-lookups.ts'
import { firstOf, highest, type IndexRange } from './index-range.ts'

/** The last change of an order. The statement is prepared, so its plan must be right at any size of the tables. */
function statement(isOwn: boolean): string {
  const types = lookupsOf(ordersAudience(isOwn ? '' : undefined)).map(({ type }) => `'${type}'`)
  const positions = types.map((type) => `(${newestHeard(isOwn ? { customer: '$1', type } : { type })})`)
  const [column, customer] = isOwn ? [['customer'], ['$1']] : [[], []]
  const changes: IndexRange = {
    table: 'purchase_order',
    key: [...column, 'modified_at', 'seq'],
    direction: 'DESC',
    start: [...customer, highest, highest],
    within: isOwn ? 'customer = $1' : 'true'
  }
  return `SELECT
      (SELECT id FROM event WHERE position = coalesce(greatest(${positions.join(', ')}), (SELECT max(position) FROM event))) AS event,
      (${firstOf(changes, "modified_at || ' ' || version || ' ' || id")}) AS change`
}

/** Exported for the tests that read their plans. The statement of a customer's own orders has the customer as `$1`. */
export const revisionStatements = { all: statement(false), own: statement(true) } as const

/**
 * The id of the last event of an order, or of the last event of all when those of orders are not kept any more. Stock and products
 * change more often than orders, and must not make a reader of orders read them again. A replica of an earlier release writes no
 * events, so the last change of an order counts too.
 */
export async function ordersRevision(database: Database, customer: string | undefined): Promise<string> {
  const [text, values] = customer === undefined ? [revisionStatements.all, []] : [revisionStatements.own, [customer]]
  const [row] = await database.prepared<{ event: string | null; change: string | null }>(text, values)
  return `${row?.event ?? ''} ${row?.change ?? ''}`
}
