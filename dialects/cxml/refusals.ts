import type { FaultCode } from '../../domain/fault-codes.ts'
import { shorten } from '../../schemas/shorten.ts'
import type { FaultList } from '../faults.ts'
import { attributeOf, find, type XmlElement } from '../xml-element.ts'
import { modificationsOf } from './annotations.ts'
import type { NumberedLine } from './delivery.ts'
import type { Values } from './values.ts'

const stockTransfer =
  'The order moves stock between plants of one company, which the shop does not do. Send a "regular" order for what you buy.'

/** Order types that the shop does not take, in lower case. */
const refusedOrderTypes: ReadonlyMap<string, readonly [code: FaultCode, detail: string]> = new Map([
  ['blanket', ['blanket-order', 'The shop does not take blanket orders. Send a "regular" order for each delivery.']],
  ['stocktransport', ['stock-transfer', stockTransfer]],
  ['stocktransportrelease', ['stock-transfer', stockTransfer]]
])

/** Refuses parts of a header that would change the deal if the shop ignored them. */
export function checkHeader(header: XmlElement, values: Values, faults: FaultList): void {
  const orderType = attributeOf(header, 'orderType') ?? 'regular'
  const refused = refusedOrderTypes.get(orderType.toLowerCase())
  if (refused) {
    faults.add(refused[0], header, refused[1], { attribute: 'orderType' })
  } else if (!['regular', 'release'].includes(orderType.toLowerCase())) {
    const detail = `The orderType ${quoted(orderType, values)} is not known. Send "regular" or "release".`
    faults.add('unknown-order-type', header, detail, { attribute: 'orderType' })
  }
  refuseDeductions(find(header, 'Total'), faults)
}

export function checkLine({ element, number }: NumberedLine, faults: FaultList): void {
  const item = { item: number }
  if (attributeOf(element, 'quantity') === undefined) {
    faults.add('missing-value', element, 'The ItemOut has no quantity. Send how many of the product you order.', item)
  }
  checkKind(element, faults, item)
  const blanket = find(element, 'BlanketItemDetail')
  if (blanket) {
    const detail =
      'The line has a BlanketItemDetail: the shop does not take blanket orders. Send an ItemDetail with the product and its price.'
    faults.add('blanket-order', blanket, detail, item)
  }
  checkSet(element, faults, item)
  checkSchedule(element, faults, item)
  refuseDeductions(find(element, 'ItemDetail', 'UnitPrice'), faults, item)
}

function checkKind(element: XmlElement, faults: FaultList, item: { item: string }): void {
  if (attributeOf(element, 'isReturn')?.toLowerCase() === 'yes') {
    const detail = 'The line returns goods (isReturn="yes"). Send an order without it, and return goods as the shop describes.'
    faults.add('return-item', element, detail, { ...item, attribute: 'isReturn' })
  }
  const isTransfer = attributeOf(element, 'itemCategory')?.toLowerCase() === 'stocktransfer'
  const attribute = isTransfer ? 'itemCategory' : 'stockTransferType'
  if (isTransfer || attributeOf(element, 'stockTransferType')) {
    const detail = 'The line moves stock between plants of one company, which the shop does not do. Send only lines for what you buy.'
    faults.add('stock-transfer', element, detail, { ...item, attribute })
  }
  if (attributeOf(element, 'operation')?.toLowerCase() === 'block') {
    const detail = 'The line is blocked (operation="block"). Leave it out until it may be delivered.'
    faults.add('invalid-value', element, detail, { ...item, attribute: 'operation' })
  }
}

function checkSet(element: XmlElement, faults: FaultList, item: { item: string }): void {
  const isSet = attributeOf(element, 'itemType')?.toLowerCase() === 'composite'
  if (!isSet && attributeOf(element, 'parentLineNumber') === undefined) return
  const detail = `The line is ${isSet ? 'a set of other lines (itemType="composite")' : 'a part of a set (parentLineNumber)'}, which the shop does not sell. Send the lines of the set by themselves.`
  faults.add('item-set', element, detail, { ...item, attribute: isSet ? 'itemType' : 'parentLineNumber' })
}

function checkSchedule(element: XmlElement, faults: FaultList, item: { item: string }): void {
  const release = find(element, 'ReleaseInfo')
  if (!release) return
  const detail =
    'The line releases quantities of a scheduling agreement (ReleaseInfo), which are cumulative. Send an order with the quantity to deliver.'
  faults.add('schedule-release', release, detail, item)
}

function refuseDeductions(price: XmlElement | undefined, faults: FaultList, item?: { item: string }): void {
  const [deduction] = modificationsOf(price, 'AdditionalDeduction')
  if (!deduction) return
  const detail = `The ${price?.local} has an AdditionalDeduction that the shop does not give. Send the order without it, at the shop's price.`
  faults.add('allowance-not-agreed', deduction, detail, item)
}

/** The currency of the first UnitPrice, which all others must have. */
export function findCurrency(lines: readonly NumberedLine[], values: Values, faults: FaultList): XmlElement | undefined {
  let first: XmlElement | undefined
  for (const { element, number } of lines) {
    const money = find(element, 'ItemDetail', 'UnitPrice', 'Money')
    const currency = attributeOf(money, 'currency')
    if (!money || currency === undefined) continue
    first ??= money
    const expected = attributeOf(first, 'currency') ?? ''
    if (currency.toUpperCase() === expected.toUpperCase()) continue
    const detail = `The UnitPrice is in ${quoted(currency, values)}, but that of another line is in ${quoted(expected, values)}. Send all prices in one currency.`
    faults.add('two-currencies', money, detail, { item: number, attribute: 'currency' })
  }
  return first
}

export function quoted(text: string, values: Values): string {
  return JSON.stringify(shorten(values.quotable(text)))
}
