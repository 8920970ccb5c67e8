/** Reads the contents of orders, after their sizes: a small write can name a large order. */

import { orderHeadColumns, type SizedOrderRow } from '../rows.ts'
import type { Queries } from './database.ts'
import { ConcurrentChange } from './failures.ts'
import type { OrderRow } from './rows.ts'

export const sizedOrderColumns = `${orderHeadColumns}, o.content_size`

/**
 * Reads the contents of orders in the versions of their rows, so that none is larger than its row says.
 * @throws ConcurrentChange if an order that is not locked has changed meanwhile
 */
export async function readContents({ query }: Queries, rows: readonly SizedOrderRow[]): Promise<(SizedOrderRow & OrderRow)[]> {
  if (rows.length === 0) return []
  const read = await query<Pick<OrderRow, 'id' | 'content'>>(
    `SELECT o.id, o.content FROM purchase_order o
      JOIN unnest($1::uuid[], $2::bigint[]) AS w (id, version) ON o.id = w.id AND o.version = w.version`,
    [rows.map(({ id }) => id), rows.map(({ version }) => version)]
  )
  const contents = new Map(read.map(({ id, content }) => [id, content]))
  return rows.map((row) => {
    const content = contents.get(row.id)
    if (content === undefined) throw new ConcurrentChange('an order was changed after its size was read')
    return { ...row, content }
  })
}
