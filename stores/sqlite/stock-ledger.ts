/** The stock behind every write: what a sale, a return or a count does to a shelf, and to its product when it shows. */

import type { Inventory, StockItem } from '../../domain/inventory.ts'
import type { Decimal } from '../../domain/money.ts'
import { type Availability, availabilityOf } from '../../domain/product.ts'
import { quantitiesOf } from '../rows.ts'
import type { Connection } from './connection.ts'
import { fromThousandths, toThousandths } from './rows.ts'

interface StockItemRow {
  readonly seq: number
  readonly id: string
  readonly name: string
  readonly price: Decimal
  readonly unit: string
  readonly minimum_quantity: Decimal | null
  readonly quantity_step: Decimal | null
  readonly backorder: 0 | 1
  readonly availability: Availability
  readonly deleted: 0 | 1
  readonly on_hand: string
}

type Labelled = Pick<StockItemRow, 'seq' | 'backorder' | 'availability' | 'deleted'>

export interface StockLedger {
  /** The shelves as they stand at the first look at each; for the length of one command. */
  shelves(): Inventory
  /** Takes from the shelves; a negative quantity goes back. */
  take(taken: ReadonlyMap<string, Decimal>): void
  /** Sets what is on hand, in thousandths. */
  count(shelf: Labelled, units: bigint): void
  /** Raises the catalogue's revision. Its time, which never goes back, is that of the product's change. */
  revise(): number
}

export function makeStockLedger(db: Connection): StockLedger {
  const columns = `SELECT p.seq, p.id, p.name, p.price, p.unit, p.minimum_quantity, p.quantity_step, p.backorder, p.availability, p.deleted,
      CAST(s.on_hand AS TEXT) AS on_hand
    FROM product p JOIN stock s ON s.product = p.seq`
  const byId = db.prepare<[string], StockItemRow>(`${columns} WHERE p.id = ?`)
  const byGtin = db.prepare<[string], StockItemRow>(`${columns} WHERE p.gtin = ? AND p.deleted = 0`)
  const setStock = db.prepare<[bigint, number, number]>(
    'UPDATE stock SET on_hand = ?, version = version + 1, modified_at = max(modified_at, ?) WHERE product = ?'
  )
  const setAvailability = db.prepare<[Availability, number, number]>(
    'UPDATE product SET availability = ?, version = version + 1, modified_at = ? WHERE seq = ?'
  )
  const raise = db
    .prepare<[number], number>('UPDATE catalogue SET revision = revision + 1, modified_at = max(modified_at, ?) RETURNING modified_at')
    .pluck()

  function count(shelf: Labelled, units: bigint): void {
    setStock.run(units, Date.now(), shelf.seq)
    const availability = availabilityOf(fromThousandths(units), shelf.backorder === 1)
    if (shelf.deleted === 1 || availability === shelf.availability) return
    setAvailability.run(availability, revise(), shelf.seq)
  }

  function revise(): number {
    const at = raise.get(Date.now())
    if (at === undefined) throw new Error('the catalogue has no revision row')
    return at
  }

  return {
    shelves() {
      const ids = new Map<string, StockItem | undefined>()
      const gtins = new Map<string, StockItem | undefined>()
      return {
        byId: (id) => look(ids, id, byId),
        byGtin: (gtin) => look(gtins, gtin, byGtin)
      }
    },
    take(taken) {
      for (const [id, quantity] of taken) {
        const units = toThousandths(quantity)
        const shelf = units === 0n ? undefined : byId.get(id)
        if (shelf) count(shelf, BigInt(shelf.on_hand) - units)
      }
    },
    count,
    revise
  }
}

function look(
  seen: Map<string, StockItem | undefined>,
  key: string,
  statement: ReturnType<typeof Connection.prototype.prepare<[string], StockItemRow>>
): StockItem | undefined {
  if (!seen.has(key)) {
    const row = statement.get(key)
    seen.set(key, row && toShelf(row))
  }
  return seen.get(key)
}

function toShelf(row: StockItemRow): StockItem {
  const { id, name, price, unit, backorder, on_hand, deleted } = row
  const onHand = fromThousandths(on_hand)
  return { id, name, price, unit, ...quantitiesOf(row), backorder: backorder === 1, onHand, deleted: deleted === 1 }
}
