import { endOfTime } from '../domain/calendar.ts'
import { defined } from '../domain/defined.ts'
import { decimal } from '../domain/money.ts'
import type { NamedLine, ShipmentDraft, ShipmentDraftItem } from '../domain/shipping.ts'
import type { DocumentSchema, Report } from './document.ts'
import { child, collapse, type Element, tokenOf } from './element.ts'
import { readLines } from './order-status.ts'
import { loadXsd } from './vocabulary.ts'

export const shipmentXsd = loadXsd('shipment')

/** The document that ships an order, whole or in part. */
export const shipment: DocumentSchema<ShipmentDraft> = {
  xsd: shipmentXsd,
  name: 'shipment',
  roots: ['shipment'],
  forms: true,
  // A program that found no line to ship must not ship everything.
  noEmpty: ['item'],
  hasOrderItems: true,
  read(root, report) {
    const shippedAt = readMoment(root, report)
    const trackingUri = readAddress(root, report)
    const [carrier, trackingNumber] = [tokenOf(root, 'carrier'), tokenOf(root, 'tracking-number')]
    const items = readLines(root, readItem)
    return {
      ...defined({ shippedAt, carrier, trackingNumber, trackingUri }),
      ...(items.length > 0 ? { items } : {})
    }
  }
}

function readMoment(root: Element, report: Report): number | undefined {
  const text = tokenOf(root, 'shipped-at')
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (time >= 0 && time < endOfTime) return time
  report(['shipped-at'], 'shipped-at must be a date and time from 1970 to 9999, such as 2026-11-20T15:00:00Z.')
  return undefined
}

/** The schema allows no scheme but https and http: the address becomes a link on a page. */
function readAddress(root: Element, report: Report): string | undefined {
  const text = tokenOf(root, 'tracking-uri')
  if (text !== undefined && !URL.canParse(text)) report(['tracking-uri'], 'tracking-uri must be a web address (https or http).')
  return text
}

function readItem(item: Element, line: NamedLine): ShipmentDraftItem {
  const quantity = child(item, 'quantity')
  const unit = quantity?.attributes?.['unit']
  return { line, quantity: decimal(quantity?.text ?? ''), ...(unit === undefined ? {} : { unit: collapse(unit) }) }
}
