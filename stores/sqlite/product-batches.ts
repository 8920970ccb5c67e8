import { mostWeight, rowShare } from '../../domain/product-list.ts'
import type { StockedProduct } from '../../domain/store.ts'
import type { Connection } from './connection.ts'
import { type ListedRow, listedColumns, makeWithinWeight, smallProducts } from './product-rows.ts'
import { fromThousandths } from './rows.ts'

/** The most products that are read at once. With their weight, it bounds the memory, and how long the thread is blocked. */
const batchSize = 50

const share = rowShare(mostWeight.batch, batchSize)

type Row = ListedRow & { readonly on_hand: string }

interface Bound {
  readonly after: string
  readonly limit: number
  readonly share: number
}

/** Reads the products after an id. No statement stays open between batches, so that the log can be checkpointed. */
export function makeProductBatches(db: Connection, currency: string): (after: string) => readonly StockedProduct[] {
  const withinWeight = makeWithinWeight(db, currency)
  const select = db.prepare<[Bound], Row>(
    `SELECT ${listedColumns}, CAST(s.on_hand AS TEXT) AS on_hand FROM product k INDEXED BY product_live
      JOIN stock s ON s.product = k.seq ${smallProducts} WHERE k.deleted = 0 AND k.id > @after ORDER BY k.id LIMIT @limit`
  )
  return db.transaction((after: string) => {
    const rows = select.all({ after, limit: batchSize, share })
    return withinWeight(rows, mostWeight.batch, (product, { on_hand }) => ({ ...product, onHand: fromThousandths(on_hand) }))
  })
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
