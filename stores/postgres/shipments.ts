import { LargeRead } from '../../domain/errors.ts'
import type { Shipment } from '../../domain/shipping.ts'
import type { Store } from '../../domain/store.ts'
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
  shipmentSummaryFrom
} from '../shipment-rows.ts'
import type { Database, Queries } from './database.ts'
import { isUuid } from './rows.ts'

/** Sends the shipments of orders whose rows are locked, without waiting for the answer. */
export function writeShipments({ query }: Queries, shipments: readonly Shipment[]): void {
  if (shipments.length === 0) return
  const rows = shipments.map(shipmentRow)
  void query(
    `INSERT INTO shipment (order_id, ${shipmentColumns})
      SELECT * FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::json[])`,
    [
      shipments.map(({ orderId }) => orderId),
      rows.map(({ number }) => number),
      rows.map(({ shipped_at }) => shipped_at),
      rows.map(({ carrier }) => carrier),
      rows.map(({ tracking_number }) => tracking_number),
      rows.map(({ tracking_uri }) => tracking_uri),
      rows.map(({ item_count }) => item_count),
      rows.map(({ items }) => items)
    ]
  )
}

interface SizedRow extends ShipmentRow, Record<string, unknown> {
  readonly size: number
}

/** The verbs that read shipments. */
export function makeShipments(database: Database): Pick<Store, 'shipments' | 'shipment'> {
  return {
    async shipments(orderId, { limit, after }) {
      const sql = `SELECT ${shipmentSummaryColumns} FROM shipment s WHERE s.order_id = $1 AND s.number < $2
        ORDER BY s.number DESC LIMIT $3::bigint + 1`
      const before = shipmentPosition(after)
      const rows = isUuid(orderId) ? await database.query<ShipmentSummaryRow>(sql, [orderId, before, limit]) : []
      return toPage(
        rows,
        limit,
        (row) => shipmentSummaryFrom(orderId, row),
        ({ number }) => String(number)
      )
    },
    async shipment(orderId, number, most = Number.MAX_SAFE_INTEGER) {
      // OFFSET keeps the planner from computing the size twice.
      const sql = `SELECT ${shipmentHeadColumns}, size, CASE WHEN size <= $3::bigint THEN items END AS items
        FROM (SELECT *, octet_length(items::text) AS size FROM shipment WHERE order_id = $1 AND number = $2 OFFSET 0) s`
      const [row] = isUuid(orderId) ? await database.prepared<SizedRow>(sql, [orderId, number, most]) : []
      if (row && row.size > most) throw new LargeRead(row.size)
      return row && shipmentFrom(orderId, row)
    }
  }
}
