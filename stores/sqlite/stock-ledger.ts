/** The stock that orders take and return. */

import { productChanged } from '../../domain/event.ts'
import { type Inventory, newAvailability, type StockItem } from '../../domain/inventory.ts'
import { type Decimal, subtract } from '../../domain/money.ts'
import type { Availability } from '../../domain/product.ts'
import { type CommonStockItemRow, quantitiesOf } from '../rows.ts'
import type { Connection } from './connection.ts'
import type { EventLog } from './event-log.ts'
import { fromThousandths, toThousandths } from './rows.ts'

interface StockItemRow extends Omit<CommonStockItemRow, 'gtin'> {
  readonly backorder: 0 | 1
  readonly deleted: 0 | 1
  readonly version: number
  readonly on_hand: string
}

/** The stock of the products of one command. It reads each item only once. */
export interface StockLedger extends Inventory {
  /** Takes quantities from stock, once. A negative quantity is returned to stock. */
  take(taken: ReadonlyMap<string, Decimal>): void
}

/** Raises the catalogue's revision and returns the time of the change. The time never goes back. */
export function makeRevise(db: Connection): () => number {
  const raise = db
    .prepare<[number], number>('UPDATE catalogue SET revision = revision + 1, modified_at = max(modified_at, ?) RETURNING modified_at')
    .pluck()
  return () => {
    const at = raise.get(Date.now())
    if (at === undefined) throw new Error('the catalogue has no revision row')
    return at
  }
}

/** Makes the function that starts the ledger of a command. */
export function makeStockLedgers(db: Connection, events: EventLog): () => StockLedger {
  const columns = `SELECT p.seq, p.id, p.version, p.name, p.price, p.unit, p.minimum_quantity, p.quantity_step, p.backorder, p.availability, p.deleted,
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
  const revise = makeRevise(db)

  return () => {
    const ids = new Map<string, ReadItem | undefined>()
    const gtins = new Map<string, ReadItem | undefined>()
    return {
      byId: (id) => readOnce(ids, id, byId)?.item,
      byGtin: (gtin) => readOnce(gtins, gtin, byGtin)?.item,
      take(taken) {
        for (const [id, quantity] of taken) {
          const read = toThousandths(quantity) === 0n ? undefined : readOnce(ids, id, byId)
          if (!read) continue
          const { row, item } = read
          const onHand = subtract(item.onHand, quantity)
          setStock.run(toThousandths(onHand), Date.now(), row.seq)
          const availability = newAvailability({ ...item, availability: row.availability }, onHand)
          if (availability) {
            const at = revise()
            setAvailability.run(availability, at, row.seq)
            events.write([productChanged(id, row.version + 1, at)])
          }
        }
      }
    }
  }
}

interface ReadItem {
  readonly row: StockItemRow
  readonly item: StockItem
}

function readOnce(
  seen: Map<string, ReadItem | undefined>,
  key: string,
  statement: ReturnType<typeof Connection.prototype.prepare<[string], StockItemRow>>
): ReadItem | undefined {
  if (!seen.has(key)) {
    const row = statement.get(key)
    seen.set(key, row && { row, item: toStockItem(row) })
  }
  return seen.get(key)
}

function toStockItem(row: StockItemRow): StockItem {
  const { id, name, price, unit, backorder, on_hand, deleted } = row
  const onHand = fromThousandths(on_hand)
  return { id, name, price, unit, ...quantitiesOf(row), backorder: backorder === 1, onHand, deleted: deleted === 1 }
}
