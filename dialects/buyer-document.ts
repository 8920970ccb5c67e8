/** The content of a document in a buyer's vocabulary (UBL, cXML), in the shop's terms. */

import type { FaultCode } from '../domain/fault-codes.ts'
import type { LineChange } from '../domain/line-changes.ts'
import type { Address, Party } from '../domain/order.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { Occurrence } from './occurrences.ts'
import type { XmlElement } from './xml-element.ts'

/** A text and the element of the sender's document that it is from. The text is never empty and has no white space around it. */
export interface Sourced {
  readonly text: string
  readonly from: XmlElement
  /** The attribute of `from` that has the text. Absent: it is the text of the element, or made of several. */
  readonly attribute?: string
}

/** The texts of a part of an order. */
type Texts<Part> = { readonly [Name in keyof Part]?: Sourced | undefined }

export type AddressDraft = Texts<Address>

export interface PartyDraft extends Texts<Omit<Party, 'address'>> {
  readonly from: XmlElement
  readonly address?: AddressDraft | undefined
}

export interface ExtensionDraft {
  readonly name: string
  readonly value: Sourced
}

/** The price that the buyer expects: `amount` for `base` units. */
export interface PriceDraft {
  readonly amount: Sourced
  /** UBL's BaseQuantity, cXML's PriceBasisQuantity/@quantity. Absent: 1. */
  readonly base?: Sourced | undefined
  /** UBL's BaseQuantity/@unitCode: the unit of `base`. Absent: the unit of the line. */
  readonly baseUnit?: Sourced | undefined
  /** cXML's PriceBasisQuantity/@conversionFactor, UBL's OrderableUnitFactorRate: units of the base in one unit of the order. Absent: 1. */
  readonly factor?: Sourced | undefined
}

/** The elements of a line that name parts of a destination. */
export interface DestinationDraft {
  readonly address?: Pick<Sourced, 'from'> | undefined
  readonly recipient?: Pick<Sourced, 'from'> | undefined
  /** The identifier of the place. */
  readonly place?: string | undefined
}

export interface ItemDraft {
  readonly from: XmlElement
  /** The buyer's number of the line. */
  readonly lineId?: Sourced | undefined
  /** The seller's id of the product, as written, also when no product can have such an id or it is a placeholder. */
  readonly sellerId?: Sourced | undefined
  readonly gtin?: Sourced | undefined
  readonly quantity?: Sourced | undefined
  readonly unit?: Sourced | undefined
  readonly price?: PriceDraft | undefined
  readonly requestedDeliveryDate?: Sourced | undefined
  /** Only in a change of single lines. */
  readonly destination?: DestinationDraft | undefined
  readonly notes: readonly Sourced[]
  readonly extensions: readonly ExtensionDraft[]
}

/** A purchase order as the buyer's document has it: values as written, before any check of their form. */
export interface OrderDraft {
  readonly from: XmlElement
  readonly orderNumber?: Sourced | undefined
  readonly issueDate?: Sourced | undefined
  readonly currency?: Sourced | undefined
  readonly buyer?: PartyDraft | undefined
  readonly shipTo?: PartyDraft | undefined
  readonly billTo?: PartyDraft | undefined
  readonly requestedDeliveryDate?: Sourced | undefined
  readonly notes: readonly Sourced[]
  readonly extensions: readonly ExtensionDraft[]
  readonly items: readonly ItemDraft[]
}

/** A fault of the document, with line and path in the sender's document. */
export interface BuyerFault extends LocatedFault {
  readonly code: FaultCode
  readonly line: number
  readonly path: string
}

/** How one line of an order changes. */
export interface LineChangeDraft extends Pick<LineChange, 'kind'> {
  readonly item: ItemDraft
}

/** The buyer's request. */
export type BuyerRequest =
  /** The version of a later change must be above `revision`. `copies`: the document is a copy, which is never placed. */
  | { readonly kind: 'place'; readonly revision?: Sourced | undefined; readonly order: OrderDraft; readonly copies?: true }
  /**
   * The document replaces the whole order that has the number. A change is outdated if its `revision` is not above the last one.
   * `placesUnknown`: the order is placed if the number is unknown.
   */
  | {
      readonly kind: 'replace'
      readonly number: Sourced
      readonly revision?: Sourced | undefined
      readonly order: OrderDraft
      readonly placesUnknown?: true
    }
  /** Only the named lines change. */
  | {
      readonly kind: 'change-lines'
      readonly number: Sourced
      readonly revision?: Sourced | undefined
      readonly order: OrderDraft
      readonly lines: readonly LineChangeDraft[]
    }
  | { readonly kind: 'cancel'; readonly number: Sourced; readonly revision?: Sourced | undefined; readonly reason?: Sourced | undefined }
  /** cXML's ProfileRequest: asks what the shop takes. */
  | { readonly kind: 'profile' }
  /** A document of the vocabulary that the shop does not take. Its faults say why. */
  | { readonly kind: 'unsupported' }

/** The identifiers of a party that a UBL answer repeats. */
export interface PartyIdentity {
  readonly endpoint?: { readonly id: string; readonly scheme?: string }
  readonly identifications: readonly { readonly id: string; readonly scheme?: string }[]
  /** PartyLegalEntity/RegistrationName, else PartyName/Name. */
  readonly registrationName?: string
}

/** The parts of a UBL document that its answer repeats. It is plain data: it is stored with the order. */
export interface UblAnswerBasis {
  readonly vocabulary: 'ubl'
  readonly document: 'Order' | 'OrderChange' | 'OrderCancellation'
  /** Peppol 3: `ordering` and `advanced` are answered with their customization and profile. */
  readonly profile?: 'ordering' | 'advanced'
  /** The buyer's number of the order that the document places, changes or cancels. */
  readonly orderNumber?: string
  /** The ID of the OrderChange or OrderCancellation itself. */
  readonly changeId?: string
  readonly customerReference?: string
  readonly seller?: PartyIdentity
  readonly buyer?: PartyIdentity
}

/** The parts of a cXML document that its answer repeats. It is plain data: it is stored with the order. It holds no secret. */
export interface CxmlAnswerBasis {
  readonly vocabulary: 'cxml'
  readonly payloadId?: string
  /** The DOCTYPE as it was sent, where it had the accepted form. */
  readonly doctype?: string
  readonly version?: string
  readonly orderNumber?: string
  /** As written. */
  readonly orderDate?: string
  /** Credentials of the document's From and To (domain and identity), which the answer swaps. */
  readonly from?: { readonly domain: string; readonly identity: string }
  readonly to?: { readonly domain: string; readonly identity: string }
}

export type AnswerBasis = UblAnswerBasis | CxmlAnswerBasis

/** The sender of a cXML document. */
export interface CxmlSender {
  /** Sender/Credential/SharedSecret: an API key. Absent or empty: undefined. */
  readonly sharedSecret?: string
}

export interface BuyerDocument {
  readonly request: BuyerRequest
  readonly answer: AnswerBasis
  /** At most 100. */
  readonly faults: readonly BuyerFault[]
  readonly secrets: readonly Occurrence[]
  /** The document says that it is only a test. */
  readonly isTest?: true
  /** cXML only. */
  readonly sender?: CxmlSender
}
