import type { LineChange } from '../../domain/line-changes.ts'
import { shorten } from '../../schemas/shorten.ts'
import type { ExtensionDraft, ItemDraft, PriceDraft, Sourced } from '../buyer-document.ts'
import type { FaultList } from '../faults.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'
import { extensionsOfDeliveries, readDate } from './deliveries.ts'
import { checkAllowances, refuseRepeated, refuseSet } from './faults.ts'
import { partyOf } from './parties.ts'
import { attributeValue, extensionsOf, joined, schemed, textOf, valueAt, valuesOf } from './values.ts'

/** An OrderLine. `change` is how a line of an OrderChange changes. */
export interface LineDraft {
  readonly lineItem: XmlElement
  readonly id: Sourced | undefined
  readonly change: LineChange['kind'] | undefined
  readonly item: ItemDraft
}

/** Line status codes of UN/CEFACT 1229 that a buyer sends. */
const changes: Readonly<Record<string, LineChange['kind']>> = { 1: 'added', 2: 'deleted', 3: 'changed', 4: 'untouched' }

const statusCodes = 'Send 1 (added), 2 (deleted), 3 (changed) or 4 (not changed)'

function changeOf(lineItem: XmlElement, id: Sourced | undefined, faults: FaultList): LineChange['kind'] | undefined {
  const code = find(lineItem, 'LineStatusCode')
  const status = trimmedText(code)
  if (status === undefined) {
    const detail = `The line has no LineStatusCode, although other lines have one. ${statusCodes}, or leave it out of all lines to send the whole order anew.`
    faults.add('unknown-line-status', lineItem, detail, { item: id?.text })
    return undefined
  }
  const change = Object.hasOwn(changes, status) ? changes[status] : undefined
  if (!change && code) {
    faults.add('unknown-line-status', code, `The shop does not know the LineStatusCode ${shorten(status)}. ${statusCodes}.`, {
      item: id?.text
    })
  }
  return change
}

/** A StandardItemIdentification without scheme is a GTIN if it looks like one. */
function gtinOf(item: XmlElement | undefined): Sourced | undefined {
  const isGtin = (id: XmlElement | undefined) => /^(0160|GTIN|EAN13)$/i.test(attributeOf(id, 'schemeID') ?? '')
  const standard = find(item, 'StandardItemIdentification', 'ID')
  const looksSo = attributeOf(standard, 'schemeID') === undefined && /^\d{8,14}$/.test(trimmedText(standard) ?? '')
  if (isGtin(standard) || looksSo) return textOf(standard)
  // Danish buyers (OIOUBL) write the GTIN as the seller's id, and say so by its scheme.
  const sellers = find(item, 'SellersItemIdentification', 'ID')
  return isGtin(sellers) ? textOf(sellers) : undefined
}

function priceOf(lineItem: XmlElement, id: Sourced | undefined, faults: FaultList): PriceDraft | undefined {
  const price = find(lineItem, 'Price')
  if (!price) return undefined
  refuseRepeated(price, 'price', faults, id)
  const amount = valueAt(price, 'PriceAmount')
  if (!amount) {
    faults.add('missing-value', price, 'Price has no PriceAmount. Send the price that you expect, or leave Price out.', { item: id?.text })
    return undefined
  }
  const base = find(price, 'BaseQuantity')
  const factor = valueAt(price, 'OrderableUnitFactorRate')
  return { amount, base: textOf(base), baseUnit: attributeValue(base, 'unitCode'), factor }
}

function propertyOf(property: XmlElement): Sourced | undefined {
  return joined([valueAt(property, 'Name'), valueAt(property, 'Value') ?? valueAt(property, 'ValueQuantity')], ': ')
}

function instanceOf(instance: XmlElement): Sourced | undefined {
  const serial = valueAt(instance, 'SerialID')
  const lot = valueAt(instance, 'LotIdentification', 'LotNumberID')
  return joined([serial && { ...serial, text: `serial number ${serial.text}` }, lot && { ...lot, text: `lot ${lot.text}` }], ', ')
}

function extensionsOfLine(lineItem: XmlElement): readonly ExtensionDraft[] {
  const item = find(lineItem, 'Item')
  const originator = find(lineItem, 'OriginatorParty')
  const classes = findAll(item, 'CommodityClassification').map((one) => schemed(find(one, 'ItemClassificationCode'), 'listID'))
  return [
    ...extensionsOf('Name', [valueAt(item, 'Name')]),
    ...extensionsOf('Description', valuesOf(item, 'Description')),
    ...extensionsOf('BuyersItemIdentification', [valueAt(item, 'BuyersItemIdentification', 'ID')]),
    ...extensionsOf('ManufacturersItemIdentification', [valueAt(item, 'ManufacturersItemIdentification', 'ID')]),
    ...extensionsOf('AccountingCost', [valueAt(lineItem, 'AccountingCost')]),
    ...extensionsOf('AccountingCostCode', [valueAt(lineItem, 'AccountingCostCode')]),
    ...extensionsOf('PartialDeliveryIndicator', [valueAt(lineItem, 'PartialDeliveryIndicator')]),
    ...extensionsOf('OriginatorParty', [partyOf(originator)?.name ?? schemed(find(originator, 'PartyIdentification', 'ID'))]),
    ...extensionsOfDeliveries(lineItem),
    ...extensionsOf('CommodityClassification', classes),
    ...extensionsOf('ItemInstance', findAll(item, 'ItemInstance').map(instanceOf)),
    ...extensionsOf('AdditionalItemProperty', findAll(item, 'AdditionalItemProperty').map(propertyOf))
  ]
}

function refuseWithoutQuantity(lineItem: XmlElement, id: Sourced | undefined, faults: FaultList): void {
  const quantity = find(lineItem, 'Quantity')
  if (trimmedText(quantity) === undefined) {
    faults.add('missing-value', quantity ?? lineItem, 'The line has no Quantity. Say how much you order, with its unitCode.', {
      item: id?.text
    })
  }
}

function readLine(orderLine: XmlElement, isChange: boolean, faults: FaultList): LineDraft {
  refuseRepeated(orderLine, 'orderLine', faults)
  const lineItem = find(orderLine, 'LineItem') ?? orderLine
  if (lineItem === orderLine)
    faults.add('missing-value', orderLine, 'The OrderLine has no LineItem. Send the LineItem, or leave the OrderLine out.')
  const id = valueAt(lineItem, 'ID')
  const item = find(lineItem, 'Item')
  const quantity = find(lineItem, 'Quantity')
  refuseRepeated(lineItem, 'lineItem', faults, id)
  refuseRepeated(item, 'item', faults, id)
  const change = isChange ? changeOf(lineItem, id, faults) : undefined
  const isKept = change !== 'deleted'
  if (isKept && change !== 'untouched') refuseWithoutQuantity(lineItem, id, faults)
  if (isKept) refuseSet(lineItem, faults, id)
  const charges = isKept ? checkAllowances(lineItem, faults, id) : []
  // The dates of a deleted line are not checked.
  const { date, extensions } = isKept ? readDate(lineItem, faults, id) : { date: undefined, extensions: [] }
  const draft: ItemDraft = {
    from: lineItem,
    lineId: id,
    sellerId: valueAt(item, 'SellersItemIdentification', 'ID'),
    gtin: gtinOf(item),
    quantity: textOf(quantity),
    unit: attributeValue(quantity, 'unitCode'),
    price: isKept ? priceOf(lineItem, id, faults) : undefined,
    requestedDeliveryDate: date,
    notes: [...valuesOf(orderLine, 'Note'), ...(lineItem === orderLine ? [] : valuesOf(lineItem, 'Note')), ...charges],
    extensions: [...extensionsOfLine(lineItem), ...extensions]
  }
  return { lineItem, id, change, item: draft }
}

/** Later changes and the answer name a line by its LineItem/ID (rule R001 of Peppol's order). */
function refuseUnnamed(lines: readonly LineDraft[], faults: FaultList): void {
  const seen = new Map<string, Sourced>()
  for (const { lineItem, id } of lines) {
    const first = id && seen.get(id.text)
    if (!id) {
      faults.add('missing-value', find(lineItem, 'ID') ?? lineItem, 'The line has no LineItem/ID. Give every line an ID of its own.')
    } else if (first) {
      const detail = `The LineItem/ID ${shorten(id.text)} is already that of the line at line ${first.from.tag.line}. Give every line an ID of its own.`
      faults.add('repeated-line-id', id.from, detail, { item: id?.text })
    } else seen.set(id.text, id)
  }
}

/**
 * Reads the lines of an Order or an OrderChange.
 * @param isChange whether each line says by its LineStatusCode how it changes
 */
export function readLines(order: XmlElement, isChange: boolean, faults: FaultList): readonly LineDraft[] {
  const orderLines = findAll(order, 'OrderLine')
  if (orderLines.length === 0)
    faults.add('missing-value', order, 'The document has no OrderLine. Send a line for each product that you order.')
  const lines = orderLines.map((orderLine) => readLine(orderLine, isChange, faults))
  refuseUnnamed(lines, faults)
  return lines
}
