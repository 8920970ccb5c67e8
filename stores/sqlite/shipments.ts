import { LargeRead } from '../../domain/errors.ts'
import type { Shipment } from '../../domain/shipping.ts'
import { toPage } from '../paging.ts'
import {
  type ShipmentRow,
  type ShipmentSummaryRow,
  shipmentColumns,
  shipmentFrom,
  shipmentHeadColumns,
  shipmentPosition,
  shipmentRow,
  shipmentSummaryColumns,
  shipmentSummaryFrom,
  type UndecodedShipmentRow
} from '../shipment-rows.ts'
import type { Connection } from './connection.ts'
import { undecoded } from './rows.ts'
import type { Sync } from './write-verbs.ts'

/** Writes a shipment. The row of its order must exist. */
export function makeShipmentWriter(db: Connection): (shipment: Shipment) => void {
  const insert = db.prepare<[ShipmentRow & { readonly id: string }]>(
    `INSERT INTO shipment (seq, ${shipmentColumns}) SELECT seq, ${shipmentColumns.replaceAll(/\w+/g, '@$&')} FROM purchase_order WHERE id = @id`
  )
  return (shipment) => {
    insert.run({ id: shipment.orderId, ...shipmentRow(shipment) })
  }
}

export function makeShipmentReader(db: Connection): Sync<'shipments' | 'shipment'> {
  const page = db.prepare<[string, number, number], ShipmentSummaryRow>(
    `SELECT ${shipmentSummaryColumns} FROM shipment s WHERE s.seq = (SELECT seq FROM purchase_order WHERE id = ?) AND s.number < ?
      ORDER BY s.number DESC LIMIT ? + 1`
  )
  // SQLite knows the length of a text without reading the text.
  const one = db.prepare<[{ orderId: string; number: number; most: number }], UndecodedShipmentRow & { readonly size: number }>(
    `SELECT ${shipmentHeadColumns}, octet_length(items) AS size, iif(octet_length(items) > @most, '', ${undecoded('items')}) AS items
      FROM shipment WHERE seq = (SELECT seq FROM purchase_order WHERE id = @orderId) AND number = @number`
  )
  return {
    shipments(orderId, { limit, after }) {
      const rows = page.all(orderId, shipmentPosition(after), limit)
      return toPage(
        rows,
        limit,
        (row) => shipmentSummaryFrom(orderId, row),
        ({ number }) => String(number)
      )
    },
    shipment(orderId, number, most = Number.MAX_SAFE_INTEGER) {
      const row = one.get({ orderId, number, most })
      if (row && row.size > most) throw new LargeRead(row.size)
      return row && shipmentFrom(orderId, row)
    }
  }
}
