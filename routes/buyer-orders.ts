/** Carries out what a document in a buyer's vocabulary (UBL, cXML) asks for. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { answerOf, type Result } from '../dialects/answers.ts'
import type { AnswerBasis } from '../dialects/buyer-document.ts'
import type { BuyerSubmission } from '../dialects/submission.ts'
import { fromJson, jsonOf, textOf } from '../domain/deferred.ts'
import { DomainError, type Fault } from '../domain/errors.ts'
import { type ChangedLines, changeLines, type LineChange } from '../domain/line-changes.ts'
import { holdsStock, nextStatuses, type Order, type OrderDocument, type PurchaseOrder } from '../domain/order.ts'
import type { OrderWriteOptions } from '../domain/store.ts'
import { challenge } from '../http/credentials.ts'
import { Problem } from '../http/problem.ts'
import type { BuyerRoute } from '../plugins/buyer-documents.ts'
import { isDryRun } from './dry-run.ts'

/** How often a change is decided again because another one came first. */
const mostAttempts = 5

/** @param matches whether a purchase order says the same as an existing order */
export function makeBuyerOrders(
  app: FastifyInstance,
  config: Config,
  matches: (request: FastifyRequest, wanted: PurchaseOrder, current: Order) => Promise<boolean>
): BuyerRoute {
  const status = config.ACCEPTANCE === 'manual' ? 'received' : 'accepted'
  const bodyOf = ({ body }: FastifyRequest) => body as PurchaseOrder

  return (request, buyer) =>
    perform(request, buyer).catch((error: unknown) => {
      throw error instanceof DomainError ? placed(error, buyer) : error
    })

  async function perform(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    switch (buyer.kind) {
      case 'profile':
        return { kind: 'profile' }
      case 'unsupported':
        throw refusal(bodyOf(request).objections?.invalid ?? [])
      case 'place':
        return buyer.copies ? repeatOf(request, buyer) : place(request, buyer)
      case 'cancel':
        return cancel(request, buyer)
      case 'replace':
      case 'change-lines':
        return change(request, buyer)
    }
  }

  /** Whether nothing is to be stored: the document says that it is a test, or the request asks for a dry run. */
  function isTest(request: FastifyRequest, { isTest }: BuyerSubmission): boolean {
    return isDryRun(request) || (isTest === true && config.TEST_ORDERS === 'check')
  }

  /** @param isWhole whether the document is the whole content of the order */
  function writing(request: FastifyRequest, buyer: BuyerSubmission, isWhole: boolean): OrderWriteOptions {
    const { submission, mediaType } = request
    if (!submission) throw new Error('a document was sent')
    const { revision, answer, masked = submission.bytes } = buyer
    return {
      document: {
        mediaType: mediaType ?? 'application/xml',
        digest: submission.digest ?? '',
        ...(revision !== undefined && isVersion(revision) ? { revision } : {}),
        answer,
        ...(isWhole ? { bytes: masked } : {})
      },
      ...(isTest(request, buyer) ? { mode: 'rehearse' } : {})
    }
  }

  async function place(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const { caller } = request
    const customer = caller?.kind === 'key' ? { customer: caller.customer } : {}
    const placing = { order: bodyOf(request), status, ...customer, ...writing(request, buyer, true) } as const
    await refuseEnded(request, buyer)
    if (isTest(request, buyer)) {
      await app.store.placeOrder(placing)
      return { kind: 'checked' }
    }
    const { order, outcome, replayed } = await once(request, buyer, (idempotency) => app.store.placeOrder({ ...placing, ...idempotency }))
    return { kind: replayed ? 'repeated' : outcome, order }
  }

  /** A buyer's system may repeat an order, with another payloadID for one, after it was cancelled. That is no new order. */
  async function refuseEnded(request: FastifyRequest, { answer }: BuyerSubmission): Promise<void> {
    const order = await numbered(request, answer.orderNumber)
    if (!order || holdsStock(order.status)) return
    const document = await app.store.documentOf(order.id)
    // The store answers the same bytes as it did before.
    if (!document || isRepeated(request, document)) return
    const detail = `The order of this number, ${order.id}, is ${order.status}. To order again, send an order with a new number.`
    throw new DomainError('order-refused', detail, { faults: [{ code: 'sent-before', detail }] })
  }

  /** A document with a payloadID is carried out once, unless a header field says what is the same request. */
  function once<T>(request: FastifyRequest, { answer }: BuyerSubmission, write: Parameters<typeof request.idempotently<T>>[0]): Promise<T> {
    const id = answer.vocabulary === 'cxml' && request.operation.idempotencyKey === undefined ? answer.payloadId : undefined
    return id === undefined ? request.idempotently(write) : request.onceForDocument(id, write)
  }

  /** The order that a copy repeats. A copy never places one. */
  async function repeatOf(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const order = await numbered(request, buyer.answer.orderNumber)
    if (order && holdsStock(order.status) && (await matches(request, bodyOf(request), order))) return { kind: 'repeated', order }
    const detail = 'The document says that it is a copy, but no order with this number and content stands. Send the original.'
    throw refusal([...(bodyOf(request).objections?.invalid ?? []), { code: 'copy-of-unknown-order', detail }])
  }

  async function numbered(request: FastifyRequest, orderNumber: string | undefined): Promise<Order | undefined> {
    const { caller } = request
    if (caller?.kind !== 'key' || orderNumber === undefined) return undefined
    return app.store.orderNumbered(caller.customer, orderNumber)
  }

  /** The customer's order that a document names. @throws Problem `unauthenticated` */
  async function named(request: FastifyRequest, { number }: BuyerSubmission): Promise<Order | undefined> {
    if (request.caller?.kind !== 'key') {
      throw new Problem('unauthenticated', 'Only with an API key can an order be changed or cancelled by its number.', {
        headers: challenge
      })
    }
    return numbered(request, number)
  }

  async function cancel(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const found = await named(request, buyer)
    refuse(bodyOf(request))
    if (!found) throw unknownOrder(buyer)
    const last = await app.store.documentOf(found.id)
    const cancelled = await onLatest(found, async (order) => {
      if (order.status === 'cancelled') return order
      refuseOutdated(buyer, last)
      if (isTest(request, buyer) && nextStatuses(order.status).includes('cancelled')) return order
      return app.store.setOrderStatus(order.id, 'cancelled', { version: order.version })
    })
    return isTest(request, buyer) ? { kind: 'checked' } : { kind: 'cancelled', order: cancelled, answer: following(buyer, last).answer }
  }

  async function change(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const found = (await named(request, buyer)) ?? (await renumbered(request, buyer))
    if (!found && buyer.kind === 'replace' && buyer.placesUnknown) return place(request, buyer)
    if (!found) throw unknownOrder(buyer)
    const result = await onLatest(found, async (order): Promise<Result> => {
      const last = await app.store.documentOf(order.id)
      if (isRepeated(request, last)) return { kind: 'repeated', order }
      refuseOutdated(buyer, last)
      const change = following(buyer, last)
      return { kind: 'changed', order: await changeOnce(request, change, order, last), answer: change.answer }
    })
    return isTest(request, buyer) ? { kind: 'checked' } : result
  }

  /** Writes again, on the order as it is by then, while another write came first. */
  async function onLatest<T>(found: Order, write: (order: Order) => Promise<T>): Promise<T> {
    for (let attempt = 1, order = found; ; attempt++) {
      try {
        return await write(order)
      } catch (error) {
        if (!isOvertaken(error) || attempt === mostAttempts) throw error
        order = await app.store.order(order.id)
      }
    }
  }

  /** The order that a document has replaced before, if the document also gave it a new number. */
  async function renumbered(request: FastifyRequest, { number, answer }: BuyerSubmission): Promise<Order | undefined> {
    const order = answer.orderNumber === number ? undefined : await numbered(request, answer.orderNumber)
    return order && isRepeated(request, await app.store.documentOf(order.id)) ? order : undefined
  }

  /** The order with its lines changed. The document process changes large orders. */
  async function changed(
    request: FastifyRequest,
    before: Order,
    document: PurchaseOrder,
    changes: readonly LineChange[]
  ): Promise<ChangedLines> {
    if (textOf(before) === undefined && textOf(document) === undefined) return changeLines(before, document, changes)
    const beforeText = jsonOf(before)
    const change = () => app.documents.changeLines(request, beforeText, jsonOf(document), changes)
    const { text, ...more } = await request.withRoomFor(beforeText.length, change)
    return { order: fromJson(text), ...more }
  }

  async function changeOnce(
    request: FastifyRequest,
    buyer: BuyerSubmission,
    order: Order,
    last: OrderDocument | undefined
  ): Promise<Order> {
    const expected = { version: order.version }
    const body = bodyOf(request)
    if (buyer.kind === 'replace') {
      // An OrderChange changes an order. It is not the document that the order came from.
      const isWhole = buyer.answer.vocabulary === 'cxml' || buyer.answer.document === 'Order' || last === undefined
      return app.store.changeOrder(order.id, body, expected, config.MAX_ORDER_ITEMS, writing(request, buyer, isWhole))
    }
    const { order: after, positions, faults } = await changed(request, order, body, buyer.lines ?? [])
    const found = await locatedIn(request, faults)
    // To add them to a large order would parse it here, so they are told alone.
    if (found.length > 0 && textOf(after) !== undefined) throw refusal(found)
    const wanted = found.length > 0 ? withFaults(after, found) : after
    try {
      // An order that came in the shop's own vocabulary has no document yet.
      const options = writing(request, buyer, last === undefined)
      return await app.store.changeOrder(order.id, wanted, expected, config.MAX_ORDER_ITEMS, options)
    } catch (error) {
      throw error instanceof DomainError ? inDocument(error, positions) : error
    }
  }
}

/** Whether the last document of an order had the same bytes. */
function isRepeated({ submission }: FastifyRequest, last: OrderDocument | undefined): boolean {
  return last !== undefined && last.digest === submission?.digest
}

function isOvertaken(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'precondition-failed'
}

/** @throws DomainError for a document that has faults of its own */
function refuse({ objections }: PurchaseOrder): void {
  if (objections && objections.invalid.length > 0) throw refusal(objections.invalid)
}

function refusal(faults: readonly Fault[]): DomainError {
  const [only, ...others] = faults
  const detail = only && others.length === 0 ? only.detail : `${faults.length} things stand in the way. Nothing was stored.`
  return new DomainError('invalid-order', detail, { faults })
}

function unknownOrder({ number, numberAt }: BuyerSubmission): DomainError {
  const detail = `You have no order with the number ${JSON.stringify(number)}. Name the order by the number that it was placed with.`
  return refusal([{ code: 'order-unknown', detail, ...numberAt }])
}

/** @throws DomainError when the change is not newer than the last one */
function refuseOutdated({ revision, revisionAt }: BuyerSubmission, document: OrderDocument | undefined): void {
  const last = document?.revision
  if (revision !== undefined && !isVersion(revision)) {
    const detail = `The version ${JSON.stringify(revision)} is not a number. Send a number that is above that of the last change.`
    throw refusal([{ code: 'invalid-value', detail, ...revisionAt } as Fault])
  }
  if (revision === undefined || last === undefined || Number(revision) > Number(last)) return
  const detail = `The order has been changed by version ${last} already; this is version ${revision}. Send a version above it.`
  throw new DomainError('order-refused', detail, { faults: [{ code: 'outdated-revision', detail, ...revisionAt } as Fault] })
}

function isVersion(revision: string): boolean {
  return /^\d{1,15}(\.\d{1,15})?$/.test(revision)
}

/** An error with a place in the document: what is about the whole order is about its number. */
function placed(error: DomainError, { numberAt }: BuyerSubmission): DomainError {
  const { code, message, faults, orderId } = error
  if (!numberAt || (faults.length > 0 && faults.every((fault) => fault.at || 'line' in fault))) return error
  const named: readonly Fault[] = faults.length > 0 ? faults : [{ detail: message }]
  const located = named.map((fault) => (fault.at || 'line' in fault ? fault : { ...fault, ...numberAt }))
  return new DomainError(code, message, { faults: located, ...(orderId === undefined ? {} : { orderId }) })
}

/**
 * A change as it follows the last document of the order: without a version it leaves the last one, so that those that were sent
 * before are still outdated, and its answer has what the order's own has.
 */
function following(buyer: BuyerSubmission, last: OrderDocument | undefined): BuyerSubmission {
  const revision = buyer.revision ?? last?.revision
  const answer = last ? answerOf(buyer.answer, last.answer as AnswerBasis) : buyer.answer
  return { ...buyer, answer, ...(revision === undefined ? {} : { revision }) }
}

/** Faults of the document with their lines and paths, since places in the whole order are others. */
async function locatedIn(request: FastifyRequest, faults: readonly Fault[]): Promise<readonly Fault[]> {
  const places = await request.locate(faults.flatMap(({ at }) => (at ? [at] : [])))
  let next = 0
  return faults.map(({ at, ...fault }) => ({ ...(at ? places[next++] : {}), ...fault }))
}

function withFaults(order: PurchaseOrder, faults: readonly Fault[]): PurchaseOrder {
  const { invalid = [], refused = [] } = order.objections ?? {}
  return { ...order, objections: { invalid: [...invalid, ...faults], refused } }
}

/** Faults name the items of the whole order. The sender's document has only some of them. */
function inDocument({ code, message, faults }: DomainError, positions: readonly (number | undefined)[]): DomainError {
  const moved = faults.map(({ at, ...fault }): Fault => {
    if (at?.[0] !== 'item') return at ? { ...fault, at } : fault
    const position = positions[Number(at[1]) - 1]
    // A line that the document does not name has no place in it.
    return position === undefined ? fault : { ...fault, at: ['item', position, ...at.slice(2)] }
  })
  return new DomainError(code, message, { faults: moved })
}
