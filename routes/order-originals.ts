import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { hasOrderState, writeOrderState } from '../dialects/answers.ts'
import type { AnswerBasis } from '../dialects/buyer-document.ts'
import { textOf } from '../domain/deferred.ts'
import type { Order, OrderDocument, OrderHead } from '../domain/order.ts'
import { xmlMediaTypes } from '../http/media-types.ts'
import { Problem } from '../http/problem.ts'
import { costOfBody } from '../http/request-cost.ts'
import { versionText } from '../representations/representation.ts'
import { toSeeOrder } from './access.ts'
import { orderPath } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

/** The document that an order came from, if it was sent in a buyer's vocabulary (UBL, cXML), and the present answer to it. */
const orderOriginals: RoutePlugin = async (app) => {
  app.get(
    '/order/:order_id/document',
    { schema: { params: orderPath }, config: { access: toSeeOrder, caching: 'private', describes: getDocument } },
    async (request, reply) => {
      const { id } = await request.visibleOrderHead(request.params.order_id)
      const known = await request.read((store) => store.documentOf(id))
      if (!known) throw noDocument()
      if (reply.revalidateTag(documentTag(known), app.cachePolicies.private)) return reply
      const document = await request.read((store) => store.wholeDocumentOf(id), known.size)
      if (!document) throw noDocument()
      const { bytes, mediaType } = document
      request.charge(costOfBody(bytes.length))
      reply.header('etag', documentTag(document))
      // A browser must not run what a buyer's document may contain.
      return reply.header('content-disposition', 'attachment; filename="order.xml"').type(mediaType).send(bytes)
    }
  )

  app.get(
    '/order/:order_id/response',
    { schema: { params: orderPath }, config: { access: toSeeOrder, caching: 'private', describes: getResponse } },
    async (request, reply) => {
      const head = await request.visibleOrderHead(request.params.order_id)
      const document = await request.read((store) => store.documentOf(head.id))
      const basis = document?.answer as AnswerBasis | undefined
      if (!document || !basis || !hasOrderState(basis, head)) throw noResponse()
      if (reply.revalidateTag(responseTag(head), app.cachePolicies.private)) return reply
      const order = await request.wholeOrder(head)
      reply.header('etag', responseTag(order))
      const body = await orderState(request, basis, order)
      if (body === undefined) throw noResponse()
      return reply.type(`${document.mediaType}; charset=utf-8`).send(body)
    }
  )

  /** The document process writes about large orders. */
  async function orderState(request: FastifyRequest, basis: AnswerBasis, order: Order): Promise<Uint8Array | undefined> {
    const context = request.answerContext()
    const text = textOf(order)
    if (text === undefined) {
      const written = writeOrderState(basis, order, context)
      return written === undefined ? undefined : Buffer.from(written)
    }
    return request.withRoomFor(text, () => app.documents.answer(request, { text, basis, context }))
  }
}

function documentTag({ digest }: OrderDocument): string {
  return `"${digest.slice(0, 16)}"`
}

/** The tag is weak, because a ConfirmationRequest has a new payloadID and timestamp each time. */
function responseTag({ version, modifiedAt }: OrderHead): string {
  return `W/"${versionText(version, modifiedAt)}"`
}

function noDocument(): Problem {
  return new Problem('not-found', 'The order has no document, because it was not sent as UBL or cXML.')
}

function noResponse(): Problem {
  return new Problem(
    'not-found',
    'The order has no response: it was not sent as UBL or cXML, or it was sent as cXML and is neither accepted nor rejected yet.'
  )
}

const getDocument = {
  id: 'getOrderDocument',
  summary: 'The document that an order came from',
  notes: 'Only an order that was sent as UBL or cXML has one. Secrets in it are masked.',
  answers: { 200: 'The document.' },
  problems: ['order-not-found'],
  tagged: true,
  sends: xmlMediaTypes
} as const
const getResponse = {
  id: 'getOrderResponse',
  summary: "The present answer in the buyer's vocabulary",
  notes: 'An OrderResponse of UBL, or a ConfirmationRequest of cXML.',
  answers: { 200: 'The answer.' },
  problems: ['order-not-found'],
  tagged: true,
  sends: xmlMediaTypes
} as const

export default fp(orderOriginals, {
  name: 'order-originals',
  encapsulate: true,
  dependencies: ['visibility', 'caching', 'preconditions', 'rate-limit', 'buyer-documents']
})
