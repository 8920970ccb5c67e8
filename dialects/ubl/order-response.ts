import type { Element } from '../../schemas/element.ts'
import { writeXml } from '../../schemas/xml.ts'
import { toXmlText } from '../../schemas/xml-characters.ts'
import type { PartyIdentity, UblAnswerBasis } from '../buyer-document.ts'
import { joinReasons } from '../reasons.ts'
import { profiles } from './peppol.ts'

export interface OrderResponseContent {
  /** Unique for each answer. */
  readonly id: string
  /** The shop's id of the order. Absent in a refusal. */
  readonly salesOrderId?: string
  /** AB: received. AP: accepted, or done as asked. RE: refused. */
  readonly code: 'AB' | 'AP' | 'RE'
  readonly reasons: readonly string[]
  /** When the seller expects to deliver (xs:date). */
  readonly promisedDate?: string | undefined
  readonly currency: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

const namespaces = {
  xmlns: 'urn:oasis:names:specification:ubl:schema:xsd:OrderResponse-2',
  'xmlns:cac': 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2',
  'xmlns:cbc': 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2'
}

/** The placeholder for a value that UBL requires and the buyer's document lacks. */
const notAvailable = 'NA'

/**
 * Writes the answer to a UBL document: valid by UBL 2.1, and by UBL 2.2 where it names an OrderChange. It has no lines, which
 * Peppol forbids in answers with these codes (rules T76-R008 to R010).
 */
export function writeOrderResponse(basis: UblAnswerBasis, content: OrderResponseContent): string {
  const { response: customization, id: profile } = basis.profile ? profiles[basis.profile] : {}
  const [date = '', time = ''] = new Date(content.at).toISOString().split(/[T.]/)
  // UBL 2.1 has no OrderChangeDocumentReference. Peppol's advanced ordering has it in answers to an OrderChange, not to a cancellation.
  const changeId = basis.profile === 'advanced' && basis.document === 'OrderChange' ? basis.changeId : undefined
  return writeXml({
    name: 'OrderResponse',
    attributes: namespaces,
    children: [
      ...basic('CustomizationID', customization),
      ...basic('ProfileID', profile),
      ...basic('ID', content.id),
      ...basic('SalesOrderID', content.salesOrderId),
      ...basic('IssueDate', date),
      ...basic('IssueTime', `${time}Z`),
      ...basic('OrderResponseCode', content.code),
      ...basic('Note', joinReasons(content.reasons.map((reason) => reason.replace(/\s+/g, ' ')))),
      ...basic('DocumentCurrencyCode', content.currency),
      ...basic('CustomerReference', basis.customerReference),
      aggregate('OrderReference', basic('ID', basis.orderNumber?.trim() || notAvailable)),
      ...basic('ID', changeId).map((one) => aggregate('OrderChangeDocumentReference', [one])),
      partyOf('SellerSupplierParty', basis.seller),
      partyOf('BuyerCustomerParty', basis.buyer),
      ...(content.promisedDate === undefined ? [] : [deliveryOn(content.promisedDate.slice(0, 10))])
    ]
  })
}

/** One day is a period too. Both ends are there, because a receiver may read either (Peppol allows both). */
function deliveryOn(date: string): Element {
  return aggregate('Delivery', [aggregate('PromisedDeliveryPeriod', [...basic('StartDate', date), ...basic('EndDate', date)])])
}

/** A name or an identifier besides the EndpointID is required of each party by rules T76-R001 and R002 of Peppol. */
function partyOf(name: string, party: PartyIdentity | undefined): Element {
  const { endpoint, identifications = [], registrationName } = party ?? {}
  const children = [
    ...(endpoint ? basic('EndpointID', endpoint.id, endpoint.scheme) : []),
    ...identifications.flatMap(({ id, scheme }) => basic('ID', id, scheme).map((one) => aggregate('PartyIdentification', [one]))),
    ...basic('RegistrationName', registrationName).map((one) => aggregate('PartyLegalEntity', [one]))
  ]
  const isNamed = children.some(({ name }) => name !== 'cbc:EndpointID')
  const placeholder = aggregate('PartyLegalEntity', basic('RegistrationName', notAvailable))
  return aggregate(name, [aggregate('Party', isNamed ? children : [...children, placeholder])])
}

function aggregate(name: string, children: readonly Element[]): Element {
  return { name: `cac:${name}`, children }
}

/** An element with a text, or nothing for an empty text: UBL allows no empty elements (rule IND5 of its naming and design rules). */
function basic(name: string, text: string | undefined, schemeID?: string): readonly Element[] {
  if (text === undefined || text.trim() === '') return []
  return [{ name: `cbc:${name}`, ...(schemeID ? { attributes: { schemeID: toXmlText(schemeID) } } : {}), text: toXmlText(text) }]
}
