/** Answers to buyers' documents, each in the vocabulary of its document. */

import { hash, randomUUID } from 'node:crypto'
import { isDeferred } from '../domain/deferred.ts'
import type { FaultCode } from '../domain/fault-codes.ts'
import { isActive, keepsShippedPart, type Order, type OrderStatus } from '../domain/order.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { AnswerBasis, CxmlAnswerBasis, UblAnswerBasis } from './buyer-document.ts'
import { type CxmlStatusCode, writeConfirmation, writeCxmlResponse, writeProfileResponse } from './cxml/responses.ts'
import { endingLines, restCancelled, sellerLines } from './order-sentences.ts'
import { writeOrderResponse } from './ubl/order-response.ts'

export interface AnswerContext {
  /** The shop's currency, ISO 4217. */
  readonly currency: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The name of the host, for ids that no other host gives. */
  readonly host: string
  /** The absolute URI that orders are sent to. */
  readonly orderUri: string
}

/** The outcome of a document. `checked`: it was a test, and nothing was stored; `checked` is the order as it would be. */
export type Result =
  | {
      readonly kind: 'placed' | 'repeated' | 'changed' | 'cancelled'
      readonly order: Order
      /** The parts that the answer repeats. Absent: those of the document. */
      readonly answer?: AnswerBasis
      /** The answer to an earlier request, sent again. */
      readonly isReplayed?: true
    }
  | { readonly kind: 'checked'; readonly checked: Order }
  | { readonly kind: 'profile' }

/** One line: where the fault is, then what is wrong. */
function reasonLine({ detail, line, path, item }: LocatedFault): string {
  const where = [line === undefined ? '' : `line ${line}`, path ?? '', item === undefined ? '' : `item ${item}`].filter(
    (part) => part !== ''
  )
  return where.length === 0 ? detail : `${where.join(', ')}: ${detail}`
}

/** The reasons of a refusal, a line each. */
function reasonLines(detail: string, reasons: readonly LocatedFault[]): readonly string[] {
  return (reasons.length > 0 ? reasons.map(reasonLine) : [detail]).map((text) => text.replace(/\s+/g, ' '))
}

/** The state of an order in its buyer's vocabulary. Undefined if the vocabulary has no word for its status. */
export function writeOrderState(basis: AnswerBasis, order: Order, context: AnswerContext): string | undefined {
  if (basis.vocabulary === 'ubl') return writeOrderResponse(basis, ublContent(order, context))
  const type = confirmationTypes[order.status]
  if (!type) return undefined
  const confirmation = { type, confirmId: `${order.id}.${order.version}`, payloadId: payloadId(context), at: context.now }
  return writeConfirmation(basis, { ...confirmation, reason: [...endingLines(order), ...sellerLines(order, false)].join('\n') })
}

/** Whether the buyer's vocabulary has a word for the status of the order. */
export function hasOrderState({ vocabulary }: AnswerBasis, { status }: Pick<Order, 'status'>): boolean {
  return vocabulary === 'ubl' || confirmationTypes[status] !== undefined
}

const ublCodes = {
  received: 'AB',
  accepted: 'AP',
  shipped: 'AP',
  completed: 'AP',
  rejected: 'RE',
  cancelled: 'RE'
} as const satisfies Readonly<Record<OrderStatus, string>>

const confirmationTypes: Readonly<Record<OrderStatus, 'accept' | 'reject' | undefined>> = {
  received: undefined,
  accepted: 'accept',
  shipped: 'accept',
  completed: 'accept',
  rejected: 'reject',
  cancelled: 'reject'
}

/** The content depends only on the order, so that a repeated answer has the same bytes. */
function ublContent(order: Order, { currency }: AnswerContext) {
  const { id, version, modifiedAt, status } = order
  const reasons = [...endingLines(order), ...sellerLines(order, isActive(status))]
  const promised = isActive(status) && !isDeferred(order) ? { promisedDate: order.expectedDeliveryDate } : {}
  return { id: `${id}.${version}`, salesOrderId: id, code: ublCodes[status], reasons, currency, at: modifiedAt, ...promised }
}

function payloadId({ host }: AnswerContext): string {
  return `${randomUUID()}@${host}`
}

/** Every answer to one document about one version of an order has the same id. */
function payloadIdOf({ id, version }: Order, { payloadId = '' }: CxmlAnswerBasis, { host }: AnswerContext): string {
  return `${id}.${version}.${hash('sha256', payloadId).slice(0, 8)}@${host}`
}

/** The parts that the answer to a change or a cancellation repeats: parties, references and profile are those of the order. */
export function answerOf(change: AnswerBasis, order: AnswerBasis): AnswerBasis {
  if (change.vocabulary !== 'ubl' || order.vocabulary !== 'ubl') return change
  const { document: _document, changeId: _changeId, orderNumber: _orderNumber, ...ofOrder } = order
  return { ...change, ...ofOrder }
}

export function writeResult(sent: AnswerBasis, result: Result, context: AnswerContext): string {
  const basis = ('answer' in result && result.answer) || sent
  return basis.vocabulary === 'ubl' ? ublResult(basis, result, context) : cxmlResult(basis, result, context)
}

const checked = 'Test order: checked, nothing was stored.'

function ublResult(basis: UblAnswerBasis, result: Result, context: AnswerContext): string {
  if (result.kind === 'profile') throw new Error('UBL has no profile')
  if (result.kind === 'checked') {
    const { currency, now: at } = context
    return writeOrderResponse(basis, { id: randomUUID(), code: 'AP', reasons: [checked], currency, at })
  }
  const { order, kind } = result
  // AP in answer to an OrderCancellation accepts the cancellation, even if a part of the order was shipped.
  if (kind === 'cancelled') {
    const { promisedDate: _, ...content } = ublContent(order, context)
    return writeOrderResponse(basis, { ...content, code: 'AP', reasons: keepsShippedPart(order) ? [restCancelled(order)] : [] })
  }
  return writeOrderResponse(basis, ublContent(order, context))
}

function cxmlResult(basis: CxmlAnswerBasis, result: Result, context: AnswerContext): string {
  const { now, orderUri } = context
  if (result.kind === 'profile') {
    return writeProfileResponse(basis, { payloadId: payloadId(context), at: now, orderUri })
  }
  const about =
    result.kind === 'checked'
      ? { payloadId: payloadId(context), at: now }
      : { payloadId: payloadIdOf(result.order, basis, context), at: result.order.modifiedAt }
  return writeCxmlResponse(basis, { code: 200, text: [cxmlSentence(result)], ...about })
}

function cxmlSentence(result: Exclude<Result, { kind: 'profile' }>): string {
  if (result.kind === 'checked') return checked
  const { id, status } = result.order
  if (result.kind === 'cancelled' && keepsShippedPart(result.order)) {
    return `The rest of order ${id} is cancelled${contentOf(result.order)}. ${restCancelled(result.order)} Its status is ${status}.`
  }
  const done = { placed: 'is placed', repeated: 'was placed before', changed: 'is changed', cancelled: 'is cancelled' }[result.kind]
  return `Order ${id} ${done}${contentOf(result.order)}. Its status is ${status}.`
}

/** A large order is not described, because the serving thread would have to parse it. */
function contentOf(order: Order): string {
  if (isDeferred(order)) return ''
  const { items, total, currency } = order
  return `: ${items.length === 1 ? '1 line' : `${items.length} lines`}, total ${total} ${currency}`
}

/** The cXML code for each HTTP status. Any other status is sent as such, so that the sender repeats the document. */
const cxmlCodes: Readonly<Record<number, CxmlStatusCode>> = {
  400: 406,
  401: 401,
  403: 403,
  404: 400,
  409: 409,
  412: 409,
  422: 400,
  500: 500
}

/** Codes of faults that ask for something that the shop does not offer at all. */
const notOffered: ReadonlySet<FaultCode> = new Set([
  'blanket-order',
  'item-set',
  'schedule-release',
  'stock-transfer',
  'several-addresses',
  'return-item',
  'unsupported-document'
])

/** A refusal in the sender's vocabulary, with its HTTP status. */
export interface WrittenRefusal {
  readonly status: number
  readonly body: string
}

/**
 * @param status the HTTP status of the problem
 * @returns undefined if the vocabulary has no answer for the problem
 */
export function writeRefusal(
  basis: AnswerBasis,
  status: number,
  detail: string,
  reasons: readonly LocatedFault[],
  context: AnswerContext
): WrittenRefusal | undefined {
  const text = reasonLines(detail, reasons)
  if (basis.vocabulary === 'ubl') {
    if (![409, 412, 422].includes(status)) return undefined
    const content = { id: randomUUID(), code: 'RE', reasons: text, currency: context.currency, at: context.now } as const
    return { status: status === 412 ? 409 : status, body: writeOrderResponse(basis, content) }
  }
  const code = reasons.some((reason) => reason.code && notOffered.has(reason.code)) && status === 422 ? 450 : cxmlCodes[status]
  if (code === undefined) return undefined
  return { status: 200, body: writeCxmlResponse(basis, { code, text, payloadId: payloadId(context), at: context.now }) }
}
