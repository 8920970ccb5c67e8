/** Carries out what a document in a buyer's vocabulary (UBL, cXML) asks for. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { answerOf, type Result } from '../dialects/answers.ts'
import type { AnswerBasis } from '../dialects/buyer-document.ts'
import { type BuyerSubmission, replacesDocument } from '../dialects/submission.ts'
import {
  cancellationPrecondition,
  decideCancellation,
  endedOrder,
  isRepeated,
  latestRevision,
  locatedAtNumber,
  locatedInDocument,
  outdated,
  repeatedOutcome,
  storedRevision,
  unknownCopy,
  unknownOrder
} from '../domain/buyer-changes.ts'
import { fromJson, isDeferred, jsonOf } from '../domain/deferred.ts'
import { DomainError, hasCode } from '../domain/errors.ts'
import { type ChangedLines, changeLines, type LineChange } from '../domain/line-changes.ts'
import { isActive, type Objections, type Order, type OrderDocument, type PurchaseOrder, type StoredOrderHead } from '../domain/order.ts'
import { joinObjections, refusal } from '../domain/refusing.ts'
import type { OrderWriteOptions, Placing } from '../domain/store.ts'
import { unauthenticated } from '../http/credentials.ts'
import type { BuyerRoute } from '../plugins/buyer-documents.ts'
import { isDryRun } from './dry-run.ts'
import { orderOptions } from './order-options.ts'
import { changeOrder, placeOrder, placingOf } from './placing.ts'
import { statusSetter } from './setting-status.ts'

/** The most attempts to write a change while other writes come first. */
const mostAttempts = 5

/** @param matches whether a purchase order has the same content as an existing order */
export function makeBuyerOrders(
  app: FastifyInstance,
  config: Config,
  matches: (request: FastifyRequest, wanted: PurchaseOrder, current: Order) => Promise<boolean>
): BuyerRoute {
  const bodyOf = ({ body }: FastifyRequest) => body as PurchaseOrder

  return (request, buyer) =>
    perform(request, buyer).catch((error: unknown) => {
      throw error instanceof DomainError ? locatedAtNumber(error, buyer) : error
    })

  async function perform(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    request.placesNoOrder = !['place', 'unsupported'].includes(buyer.kind) || isTest(request, buyer)
    switch (buyer.kind) {
      case 'profile':
        return { kind: 'profile' }
      case 'unsupported':
        throw refusal(joinObjections(buyer.objections))
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

  /** @param last the document that the order has now */
  function documentOptions(request: FastifyRequest, buyer: BuyerSubmission, last?: OrderDocument): OrderWriteOptions {
    const { submission, mediaType } = request
    if (!submission) throw new Error('a document was sent')
    const { answer, objections, masked = submission.bytes } = buyer
    const revision = storedRevision(buyer)
    return {
      ...orderOptions(request),
      document: {
        mediaType: mediaType ?? 'application/xml',
        digest: submission.digest ?? '',
        ...(revision === undefined ? {} : { revision }),
        answer,
        ...(replacesDocument(answer, last) ? { bytes: masked } : {})
      },
      ...(objections ? { objections } : {}),
      ...(isTest(request, buyer) ? { mode: 'dry-run' } : {})
    }
  }

  function placing(request: FastifyRequest, buyer: BuyerSubmission): Placing {
    return { ...placingOf(request, config), ...documentOptions(request, buyer) }
  }

  async function place(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const ended = await endedBefore(request, buyer)
    const wanted = placing(request, { ...buyer, objections: joinObjections(ended, buyer.objections) })
    if (isTest(request, buyer)) {
      const { order } = await placeOrder(app.store, request, wanted)
      return { kind: 'checked', checked: order }
    }
    const { order, outcome, replayed } = await once(request, buyer, (idempotency) =>
      placeOrder(app.store, request, { ...wanted, ...idempotency })
    )
    return { kind: outcome, order, ...(replayed ? { isReplayed: true } : {}) }
  }

  async function endedBefore(request: FastifyRequest, buyer: BuyerSubmission): Promise<Objections | undefined> {
    const head = await headByNumber(request, buyer.answer.orderNumber)
    if (!head || isActive(head.status)) return undefined
    return endedOrder(head, await request.read((store) => store.documentOf(head.id)), request.submission?.digest, buyer)
  }

  /** Refuses a document that names no existing order, and lists the faults of its content too. */
  async function refuseWhole(request: FastifyRequest, buyer: BuyerSubmission, reason: Objections): Promise<never> {
    const objections = joinObjections(reason, buyer.objections)
    await placeOrder(app.store, request, { ...placing(request, { ...buyer, objections }), mode: 'dry-run' })
    throw refusal(objections)
  }

  /** Carries out a document with a payloadID once. An Idempotency-Key takes precedence over the payloadID. */
  function once<T>(request: FastifyRequest, { answer }: BuyerSubmission, write: Parameters<typeof request.idempotently<T>>[0]): Promise<T> {
    const id = answer.vocabulary === 'cxml' && request.operation.idempotencyKey === undefined ? answer.payloadId : undefined
    return id === undefined ? request.idempotently(write) : request.onceForDocument(id, write)
  }

  /** The order that a copy repeats. A copy never places one. */
  async function repeatOf(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const order = await orderByNumber(request, buyer.answer.orderNumber)
    if (order && isActive(order.status) && (await matches(request, bodyOf(request), order))) {
      request.orderOutcome = 'repeated'
      return { kind: 'repeated', order }
    }
    return refuseWhole(request, buyer, unknownCopy(buyer))
  }

  async function headByNumber(request: FastifyRequest, orderNumber: string | undefined): Promise<StoredOrderHead | undefined> {
    const { caller } = request
    if (caller.kind !== 'key' || orderNumber === undefined) return undefined
    return request.read((store) => store.orderHeadNumbered(caller.customer, orderNumber))
  }

  async function orderByNumber(request: FastifyRequest, orderNumber: string | undefined): Promise<Order | undefined> {
    const head = await headByNumber(request, orderNumber)
    return head && request.wholeOrder(head)
  }

  /** The customer's order that a document names. @throws Problem `unauthenticated` */
  async function namedOrder(request: FastifyRequest, { number }: BuyerSubmission): Promise<Order | undefined> {
    if (request.caller.kind !== 'key') {
      throw unauthenticated('An order can be changed or cancelled by its number only with an API key.')
    }
    return orderByNumber(request, number)
  }

  async function cancel(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const found = await namedOrder(request, buyer)
    if (!found) throw refusal(joinObjections(unknownOrder(buyer), buyer.objections))
    const { order, last } = await onLatest(request, found, async (order) => {
      const last = await request.read((store) => store.documentOf(order.id))
      if (!decideCancellation(buyer, order, last, isTest(request, buyer))) return { order, last }
      const expected = cancellationPrecondition(buyer, order)
      return { order: await statusSetter(app.store, request, order)('cancelled', expected), last }
    })
    return isTest(request, buyer)
      ? { kind: 'checked', checked: order }
      : { kind: 'cancelled', order, answer: completed(buyer, last).answer }
  }

  async function change(request: FastifyRequest, buyer: BuyerSubmission): Promise<Result> {
    const found = (await namedOrder(request, buyer)) ?? (await renumberedOrder(request, buyer))
    if (!found && buyer.kind === 'replace' && buyer.placesUnknown) return place(request, buyer)
    if (!found && buyer.kind === 'replace') return refuseWhole(request, buyer, unknownOrder(buyer))
    if (!found) throw refusal(joinObjections(unknownOrder(buyer), buyer.objections))
    const result = await onLatest(request, found, async (order): Promise<Result> => {
      const last = await request.read((store) => store.documentOf(order.id))
      if (isRepeated(request.submission?.digest, last)) return answerAgain(order, last)
      const change = { ...completed(buyer, last), objections: joinObjections(outdated(buyer, last), buyer.objections) }
      return { kind: 'changed', order: await changeOnce(request, change, order, last), answer: change.answer }
    })
    return isTest(request, buyer) && 'order' in result ? { kind: 'checked', checked: result.order } : result
  }

  /** Writes again, on the latest version of the order, if another write came first. */
  async function onLatest<T>(request: FastifyRequest, found: Order, write: (order: Order) => Promise<T>): Promise<T> {
    for (let attempt = 1, order = found; ; attempt++) {
      try {
        return await write(order)
      } catch (error) {
        if (!hasCode(error, 'precondition-failed') || attempt === mostAttempts) throw error
        order = await request.visibleOrder(found.id)
      }
    }
  }

  /** The order that a document has replaced before, if the document also gave it a new number. */
  async function renumberedOrder(request: FastifyRequest, { number, answer }: BuyerSubmission): Promise<Order | undefined> {
    const head = answer.orderNumber === number ? undefined : await headByNumber(request, answer.orderNumber)
    if (!head) return undefined
    const last = await request.read((store) => store.documentOf(head.id))
    return isRepeated(request.submission?.digest, last) ? request.wholeOrder(head) : undefined
  }

  /** The order with its lines changed. The document process changes large orders. */
  async function applyChanges(
    request: FastifyRequest,
    before: Order,
    document: PurchaseOrder,
    changes: readonly LineChange[]
  ): Promise<ChangedLines> {
    if (!isDeferred(before) && !isDeferred(document)) return changeLines(before, document, changes)
    const beforeText = jsonOf(before)
    const change = () => app.documents.changeLines(request, beforeText, jsonOf(document), changes)
    const { text, ...more } = await request.withRoomFor(beforeText, change)
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
    const write = (wanted: PurchaseOrder, options: OrderWriteOptions) =>
      changeOrder(app.store, request, order, { order: wanted, expected, mostItems: config.MAX_ORDER_ITEMS, ...options })
    if (buyer.kind === 'replace') return write(body, documentOptions(request, buyer, last))
    const { order: after, positions, faults } = await applyChanges(request, order, body, buyer.lines ?? [])
    // The faults name places of the document, so they are located here: the store would look for them in the whole order.
    const objections = joinObjections(buyer.objections, { invalid: await request.locate(faults), refused: [] })
    try {
      return await write(after, documentOptions(request, { ...buyer, objections }, last))
    } catch (error) {
      throw error instanceof DomainError ? locatedInDocument(error, positions) : error
    }
  }
}

/** The answer to the last document of an order, once more. */
function answerAgain(order: Order, { answer }: OrderDocument): Result {
  return { kind: repeatedOutcome(order), order, answer: answer as AnswerBasis, isReplayed: true }
}

/** Completes a change with what it leaves out: its revision, and the parts of the order's own answer that its answer repeats. */
function completed(buyer: BuyerSubmission, last: OrderDocument | undefined): BuyerSubmission {
  const revision = latestRevision(buyer, last)
  const answer = last ? answerOf(buyer.answer, last.answer as AnswerBasis) : buyer.answer
  return { ...buyer, answer, ...(revision === undefined ? {} : { revision }) }
}
