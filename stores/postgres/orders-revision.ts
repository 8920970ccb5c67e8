import { ordersAudience } from '../../domain/event.ts'
import { lookupsOf } from '../event-rows.ts'
import type { Database } from './database.ts'

/**
 * The position of the newest event of a type. The statement is prepared, so its plan must be right at any size of the table. The
 * range and the order fit exactly one index. With `=`, the planner could choose another one.
 */
function newest(type: string, isOwn: boolean): string {
  const [columns, value] = isOwn ? (['customer, type', `$1, '${type}'`] as const) : (['type', `'${type}'`] as const)
  const order = columns.replaceAll(/\w+/g, '$& DESC')
  const range = `(${columns}) >= (${value}) AND (${columns}) <= (${value})`
  return `(SELECT position FROM event WHERE ${isOwn ? 'customer IS NOT NULL AND ' : ''}${range} ORDER BY ${order}, position DESC LIMIT 1)`
}

function statement(isOwn: boolean): string {
  const positions = lookupsOf(ordersAudience(isOwn ? '' : undefined)).map(({ type }) => newest(type, isOwn))
  const [where, first] = isOwn ? ['WHERE o.customer >= $1 AND o.customer <= $1', 'o.customer DESC, '] : ['', '']
  return `SELECT
      (SELECT id FROM event WHERE position = coalesce(greatest(${positions.join(', ')}), (SELECT max(position) FROM event))) AS event,
      (SELECT o.modified_at || ' ' || o.version || ' ' || o.id FROM purchase_order o ${where}
        ORDER BY ${first}o.modified_at DESC, o.seq DESC LIMIT 1) AS change`
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
