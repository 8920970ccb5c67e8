import { type Element, element } from '../../schemas/element.ts'
import { shorten } from '../../schemas/shorten.ts'
import { writeElement, xmlDeclaration } from '../../schemas/xml.ts'
import type { CxmlAnswerBasis } from '../buyer-document.ts'

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

/** Characters of a Status. Receivers keep it in their logs. */
const maxStatusText = 60_000

/** Room for the sentence that says how many reasons are left out. */
const remarkLength = 100

/** The answer to any cXML document. It repeats the DOCTYPE that the document had, if it had the accepted form. */
export function writeCxmlResponse(basis: CxmlAnswerBasis, { code, text, payloadId, at }: CxmlStatus): string {
  return writeDocument({ payloadId, at, doctype: basis.doctype }, [element('Response', {}, [status(code, cutReasons(text))])])
}

export interface CxmlProfile {
  readonly payloadId: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Absolute. */
  readonly orderUri: string
  /** Since when the shop takes what the profile names, in milliseconds since the epoch. */
  readonly effectiveDate: number
}

/** The answer to a ProfileRequest: the shop takes an OrderRequest. */
export function writeProfileResponse(basis: CxmlAnswerBasis, { payloadId, at, orderUri, effectiveDate }: CxmlProfile): string {
  const transaction = element('Transaction', { requestName: 'OrderRequest' }, [element('URL', {}, legal(orderUri))])
  const profile = element('ProfileResponse', { effectiveDate: timestamp(effectiveDate) }, [transaction])
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
 * A ConfirmationRequest (Fulfill.dtd), which the supplier sends: so From and To are the order's To and From. It has no
 * DOCTYPE, since that of the order names another DTD.
 */
export function writeConfirmation(basis: CxmlAnswerBasis, { type, confirmId, payloadId, at, reason }: CxmlConfirmation): string {
  const supplier = credential(basis.to)
  const header = element('Header', {}, [
    element('From', {}, [supplier]),
    element('To', {}, [credential(basis.from)]),
    element('Sender', {}, [supplier, element('UserAgent', {}, 'Tradepost')])
  ])
  const comments = reason?.trim() ? element('Comments', { 'xml:lang': 'en' }, legal(reason.trim())) : undefined
  const confirmation = element('ConfirmationHeader', { confirmID: legal(confirmId), type, noticeDate: timestamp(at) }, [comments])
  const orderId = given(basis.orderNumber)
  // The DTD requires the payloadID. An order without one is still known by its number.
  const document = element('DocumentReference', { payloadID: given(basis.payloadId) ?? orderId ?? legal(confirmId) })
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
  const root = element('cXML', { payloadID: legal(payloadId), timestamp: timestamp(at), 'xml:lang': 'en' }, content)
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
  return text ? legal(text) : undefined
}

/** cXML's examples have the offset in numbers, and so do all its receivers. */
function timestamp(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, '+00:00')
}

function cutReasons(lines: readonly string[]): string {
  const reasons = lines.map((line) => legal(line).trim()).filter(Boolean)
  const all = reasons.join('\n')
  if (all.length <= maxStatusText) return all
  const kept: string[] = []
  let room = maxStatusText - remarkLength
  for (const reason of reasons) {
    if (reason.length + 1 > room) break
    kept.push(reason)
    room -= reason.length + 1
  }
  const [first] = reasons
  if (kept.length === 0 && first !== undefined) kept.push(shorten(first, room))
  const left = reasons.length - kept.length
  if (left === 0) return kept.join('\n')
  return [...kept, left === 1 ? '1 more reason is left out.' : `${left} more reasons are left out.`].join('\n')
}

/** Replaces what XML cannot hold (XML 1.0 section 2.2). A surrogate without its other half is such a character too. */
function legal(text: string): string {
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
}
