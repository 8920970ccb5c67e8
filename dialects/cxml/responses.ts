import { type Element, element } from '../../schemas/element.ts'
import { writeElement, xmlDeclaration } from '../../schemas/xml.ts'
import { toXmlText } from '../../schemas/xml-characters.ts'
import type { CxmlAnswerBasis } from '../buyer-document.ts'
import { joinReasons } from '../reasons.ts'

/** The names of the codes, as cXML's reference guide has them. */
const statusNames = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  406: 'Not Acceptable',
  409: 'Conflict',
  450: 'Not Implemented',
  500: 'Internal Server Error'
} as const

export type CxmlStatusCode = keyof typeof statusNames

export interface CxmlStatus {
  readonly code: CxmlStatusCode
  /** One reason or sentence a line. */
  readonly text: readonly string[]
  readonly payloadId: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The answer to any cXML document. It repeats the DOCTYPE that the document had, if it had the accepted form. */
export function writeCxmlResponse(basis: CxmlAnswerBasis, { code, text, payloadId, at }: CxmlStatus): string {
  return writeDocument({ payloadId, at, doctype: basis.doctype }, [element('Response', {}, [status(code, joinReasons(text))])])
}

export interface CxmlProfile {
  readonly payloadId: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Absolute. */
  readonly orderUri: string
}

/** The answer to a ProfileRequest: the shop takes an OrderRequest. */
export function writeProfileResponse(basis: CxmlAnswerBasis, { payloadId, at, orderUri }: CxmlProfile): string {
  const transaction = element('Transaction', { requestName: 'OrderRequest' }, [element('URL', {}, toXmlText(orderUri))])
  const profile = element('ProfileResponse', { effectiveDate: timestamp(at) }, [transaction])
  return writeDocument({ payloadId, at, doctype: basis.doctype }, [element('Response', {}, [status(200, 'OK'), profile])])
}

export interface CxmlConfirmation {
  readonly type: 'accept' | 'reject'
  readonly confirmId: string
  readonly payloadId: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly reason?: string
}

/**
 * A ConfirmationRequest (Fulfill.dtd). The supplier sends it, so its From and To are the order's To and From. It has no
 * DOCTYPE, because the order's names another DTD.
 */
export function writeConfirmation(basis: CxmlAnswerBasis, { type, confirmId, payloadId, at, reason }: CxmlConfirmation): string {
  const supplier = credential(basis.to)
  const header = element('Header', {}, [
    element('From', {}, [supplier]),
    element('To', {}, [credential(basis.from)]),
    element('Sender', {}, [supplier, element('UserAgent', {}, 'Tradepost')])
  ])
  const comments = reason?.trim() ? element('Comments', { 'xml:lang': 'en' }, toXmlText(reason.trim())) : undefined
  const confirmation = element('ConfirmationHeader', { confirmID: toXmlText(confirmId), type, noticeDate: timestamp(at) }, [comments])
  const orderId = given(basis.orderNumber)
  // The DTD requires the payloadID. An order without one is still known by its number.
  const document = element('DocumentReference', { payloadID: given(basis.payloadId) ?? orderId ?? toXmlText(confirmId) })
  const order = element('OrderReference', { orderID: orderId, orderDate: given(basis.orderDate) }, [document])
  const request = element('Request', {}, [element('ConfirmationRequest', {}, [confirmation, order])])
  return writeDocument({ payloadId, at }, [header, request])
}

interface Frame {
  readonly payloadId: string
  readonly at: number
  readonly doctype?: string | undefined
}

function writeDocument({ payloadId, at, doctype }: Frame, content: readonly Element[]): string {
  const root = element('cXML', { payloadID: toXmlText(payloadId), timestamp: timestamp(at), 'xml:lang': 'en' }, content)
  return `${xmlDeclaration}${doctype ? `${doctype}\n` : ''}${writeElement(root)}\n`
}

function status(code: CxmlStatusCode, text: string): Element {
  return element('Status', { code: String(code), text: statusNames[code], 'xml:lang': 'en' }, text || statusNames[code])
}

function credential(party: CxmlAnswerBasis['from']): Element {
  return element('Credential', { domain: given(party?.domain) ?? 'unknown' }, [
    element('Identity', {}, given(party?.identity) ?? 'unknown')
  ])
}

function given(text: string | undefined): string | undefined {
  return text ? toXmlText(text) : undefined
}

/** The offset is +00:00 and not Z, as in cXML's examples and in what its systems send. */
function timestamp(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, '+00:00')
}
