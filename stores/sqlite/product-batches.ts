import type { StockedProduct } from '../../domain/store.ts'
import { productColumns } from '../rows.ts'
import type { Connection } from './connection.ts'
import { fromThousandths, type ProductRow, toProduct } from './rows.ts'

/** The number of products that are read at once. It bounds the memory, and how long the thread is blocked. */
const batchSize = 50

type Row = ProductRow & { readonly on_hand: string }

/** Reads the products after an id. No statement stays open between batches, so that the log can be checkpointed. */
export function makeProductBatches(db: Connection, currency: string): (after: string) => readonly StockedProduct[] {
  const select = db.prepare<[string, number], Row>(
    `SELECT ${productColumns}, CAST(s.on_hand AS TEXT) AS on_hand FROM product p INDEXED BY product_live
      JOIN stock s ON s.product = p.seq WHERE p.deleted = 0 AND p.id > ? ORDER BY p.id LIMIT ?`
  )
  return (after) => select.all(after, batchSize).map((row) => ({ ...toProduct(row, currency), onHand: fromThousandths(row.on_hand) }))
}

export async function* readAll(
  batchAfter: (id: string) => Promise<readonly StockedProduct[]>
): AsyncGenerator<readonly StockedProduct[], void, undefined> {
  for (let last = ''; ; ) {
    const batch = await batchAfter(last)
    const id = batch.at(-1)?.id
    if (id === undefined) return
    last = id
    yield batch
  }
}
