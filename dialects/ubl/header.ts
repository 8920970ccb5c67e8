import { shorten } from '../../schemas/shorten.ts'
import type { ExtensionDraft, Sourced } from '../buyer-document.ts'
import type { FaultList } from '../faults.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'
import type { LineDraft } from './lines.ts'
import { partyOf } from './parties.ts'
import { attributeValue, extensionsOf, joined, schemed, valueAt, valuesOf } from './values.ts'

/** Elements that become extensions with their own text. */
const plain = ['CustomizationID', 'ProfileID', 'UUID', 'SalesOrderID', 'IssueTime', 'OrderTypeCode', 'CustomerReference']

/** Elements that become extensions with the text of a descendant. */
const nested: readonly (readonly [name: string, ...path: string[]])[] = [
  ['ValidityPeriod', 'EndDate'],
  ['QuotationDocumentReference', 'ID'],
  ['OrderDocumentReference', 'ID'],
  ['OriginatorDocumentReference', 'ID'],
  ['CatalogueReference', 'ID'],
  ['Contract', 'ID'],
  ['ProjectReference', 'ID'],
  ['PaymentTerms', 'Note']
]

/** The parts of an order that the shop has no element for, by their names in UBL. */
export function headerExtensions(order: XmlElement): readonly ExtensionDraft[] {
  const buyer = find(order, 'BuyerCustomerParty', 'Party')
  const originator = partyOf(find(order, 'OriginatorCustomerParty', 'Party'))
  const terms = findAll(order, 'DeliveryTerms').map((one) =>
    joined([valueAt(one, 'ID'), ...valuesOf(one, 'SpecialTerms'), valueAt(one, 'DeliveryLocation', 'ID')], ', ')
  )
  return [
    ...plain.flatMap((name) => extensionsOf(name, [valueAt(order, name)])),
    ...extensionsOf('buyer-endpoint', [schemed(find(buyer, 'EndpointID'))]),
    ...extensionsOf(
      'buyer-identification',
      findAll(buyer, 'PartyIdentification').map((one) => schemed(find(one, 'ID')))
    ),
    ...extensionsOf('seller-endpoint', [schemed(find(order, 'SellerSupplierParty', 'Party', 'EndpointID'))]),
    ...extensionsOf('AccountingCost', [valueAt(order, 'AccountingCost')]),
    ...extensionsOf('AccountingCostCode', [valueAt(order, 'AccountingCostCode')]),
    ...nested.flatMap(([name, ...path]) => extensionsOf(name, valuesOf(order, name, ...path))),
    ...extensionsOf('DeliveryTerms', terms),
    ...extensionsOf('OriginatorCustomerParty', [joined([originator?.name, originator?.contact], ', ')])
  ]
}

function attachmentNote(from: XmlElement): Sourced {
  const file = find(from, 'Attachment', 'EmbeddedDocumentBinaryObject')
  const name = attributeOf(file, 'filename') ?? trimmedText(find(from, 'ID')) ?? 'without a name'
  const type = trimmedText(find(from, 'DocumentType')) ?? trimmedText(find(from, 'DocumentTypeCode')) ?? attributeOf(file, 'mimeCode')
  return { from, text: `AdditionalDocumentReference: attachment ${name}${type === undefined ? '' : ` (${type})`}` }
}

/** The notes of an order, and a note for each attachment and for a payment by card. */
export function headerNotes(order: XmlElement): readonly Sourced[] {
  const cards = findAll(order, 'PaymentMeans').flatMap((means) => find(means, 'CardAccount') ?? [])
  return [
    ...valuesOf(order, 'Note'),
    ...cards.slice(0, 1).map((from) => ({ from, text: 'CardAccount: the buyer wants to pay by card.' })),
    ...findAll(order, 'AdditionalDocumentReference').map(attachmentNote)
  ]
}

/**
 * The currency of the order, with which the currencies of all prices must agree (rule R003 of Peppol's order). Without a
 * currency code of the document it is that of the first price.
 */
export function readCurrency(order: XmlElement, lines: readonly LineDraft[], faults: FaultList): Sourced | undefined {
  const prices = lines.flatMap(({ id, item: { price } }) => {
    const currency = attributeValue(price?.amount.from, 'currencyID')
    return currency ? [{ currency, id }] : []
  })
  const declared = valueAt(order, 'DocumentCurrencyCode') ?? valueAt(order, 'PricingCurrencyCode')
  const expected = declared ?? prices[0]?.currency
  for (const { currency, id } of prices) {
    if (!expected || currency.text.toUpperCase() === expected.text.toUpperCase()) continue
    const source = declared ? `${declared.from.local} is ${shorten(declared.text)}` : `other prices are in ${shorten(expected.text)}`
    const detail = `The price is in ${shorten(currency.text)}, but ${source}. Send all prices of an order in one currency.`
    faults.add('two-currencies', currency.from, detail, { item: id?.text })
  }
  return expected
}

/** Order (220) and what Peppol treats alike: 105, 221, 226, 227 and 402. */
const orderTypes = new Set(['105', '220', '221', '226', '227', '402'])

export function refuseOtherTypes(order: XmlElement, faults: FaultList): void {
  const type = find(order, 'OrderTypeCode')
  const code = trimmedText(type)
  if (!type || code === undefined || orderTypes.has(code)) return
  const detail = `The shop does not take orders with the OrderTypeCode ${shorten(code)}. Send a plain order: 220, or no OrderTypeCode.`
  faults.add('unknown-order-type', type, detail)
}
