/** Converts the columns of shipments, which both databases share, to and from domain values. */

import { defer, isLarge, type JsonText, joinTexts, type Known, parseText } from '../domain/deferred.ts'
import { PositionError } from '../domain/errors.ts'
import { mostSummarised } from '../domain/order.ts'
import { mostShipments, type Shipment, type ShipmentSummary, shipmentNumber } from '../domain/shipping.ts'

export interface ShipmentRow {
  readonly number: number
  readonly shipped_at: number
  readonly carrier: string | null
  readonly tracking_number: string | null
  readonly tracking_uri: string | null
  readonly item_count: number
  /** JSON. */
  readonly items: string
}

export type UndecodedShipmentRow = Omit<ShipmentRow, 'items'> & { readonly items: JsonText }

export type ShipmentSummaryRow = Omit<ShipmentRow, 'items'> & { readonly items: string | null }

export const shipmentHeadColumns = 'number, shipped_at, carrier, tracking_number, tracking_uri, item_count'
export const shipmentColumns = `${shipmentHeadColumns}, items`

/** The columns of a list, which has only the lines of short shipments. */
export const shipmentSummaryColumns = `${shipmentHeadColumns}, CASE WHEN item_count <= ${mostSummarised} THEN items END AS items`

export function shipmentRow(shipment: Shipment): ShipmentRow {
  return {
    number: shipment.number,
    shipped_at: shipment.shippedAt,
    carrier: shipment.carrier ?? null,
    tracking_number: shipment.trackingNumber ?? null,
    tracking_uri: shipment.trackingUri ?? null,
    item_count: shipment.itemCount,
    items: JSON.stringify(shipment.items)
  }
}

export function shipmentSummaryFrom(orderId: string, row: ShipmentSummaryRow): ShipmentSummary {
  const summary = summaryOf(orderId, row)
  return row.items === null ? summary : { ...summary, items: JSON.parse(row.items) }
}

/** The lines of a large shipment stay text until they are read. */
export function shipmentFrom(orderId: string, row: UndecodedShipmentRow): Shipment {
  const summary = summaryOf(orderId, row)
  if (!isLarge(row.items)) return { ...summary, items: parseText(row.items) }
  return defer<Shipment>(joinTexts([`${JSON.stringify(summary).slice(0, -1)},"items":`, row.items, '}']), shipmentKnown(summary))
}

/**
 * The properties of a shipment that the serving thread can read without parsing it. A shipment has no version, but pages ask
 * every value for one.
 */
export function shipmentKnown({ orderId, number, shippedAt, itemCount }: ShipmentSummary): Known<Shipment & { version?: never }> {
  return { orderId, number, shippedAt, itemCount, version: undefined }
}

function summaryOf(orderId: string, row: Omit<ShipmentRow, 'items'>): ShipmentSummary {
  return {
    orderId,
    number: row.number,
    shippedAt: row.shipped_at,
    ...(row.carrier === null ? {} : { carrier: row.carrier }),
    ...(row.tracking_number === null ? {} : { trackingNumber: row.tracking_number }),
    ...(row.tracking_uri === null ? {} : { trackingUri: row.tracking_uri }),
    itemCount: row.item_count
  }
}

/** The number below which a page of shipments starts. @throws PositionError */
export function shipmentPosition(after: string | undefined): number {
  if (after === undefined) return mostShipments + 1
  const number = shipmentNumber(after)
  if (number === undefined) throw new PositionError('not a shipment of this list')
  return number
}
