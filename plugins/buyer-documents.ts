import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { type AnswerContext, type Result, writeRefusal, writeResult } from '../dialects/answers.ts'
import type { BuyerSubmission } from '../dialects/submission.ts'
import { BuyerProblem } from '../documents/buyer-problem.ts'
import { textOf } from '../domain/deferred.ts'
import { unauthenticated } from '../http/credentials.ts'
import { uris } from '../representations/links.ts'

/** A route's handling of a document in a buyer's vocabulary. */
export type BuyerRoute = (request: FastifyRequest, buyer: BuyerSubmission) => Promise<Result>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Carries out documents in the vocabularies of buyers' systems. Without it, the route does not take them. */
    buyers?: BuyerRoute
  }
  interface FastifyRequest {
    /** The facts that an answer in a buyer's vocabulary needs besides the order. */
    answerContext(): AnswerContext
  }
}

/**
 * The edges of a document in a buyer's vocabulary (UBL, cXML). On the way in, the key in a cXML document says who the caller
 * is. On the way out, the result or the problem is written in the vocabulary of the document, unless the client asks for JSON.
 */
export default fp(
  async function buyerDocuments(app: FastifyInstance, { config }: { config: Config }) {
    const { path, origin } = config.BASE_URL

    app.decorateRequest('answerContext', function (this: FastifyRequest): AnswerContext {
      const base = origin ?? `${this.protocol}://${this.host}`
      return {
        currency: config.CURRENCY,
        now: Date.now(),
        host: URL.canParse(base) ? new URL(base).hostname : 'localhost',
        orderUri: `${base}${uris(path).placeOrder}`
      }
    })

    app.addHook('onRoute', (route) => {
      const { handler, errorHandler } = route
      const perform = route.config?.buyers
      if (!perform) return
      route.handler = async function (request, reply) {
        const buyer = request.submission?.buyer
        if (!buyer) return handler.call(this, request, reply)
        request.refusePage()
        prepareRefusal(request, buyer)
        await authenticate(request, buyer)
        const result = await perform(request, buyer)
        if ('isReplayed' in result) reply.header('idempotent-replayed', 'true')
        if (asksForJson(request)) {
          if ('order' in result) return sendOwn(reply, result)
          if (result.kind === 'checked') return reply.sendChecked(result.checked)
        }
        return sendResult(request, reply, result, await bodyOf(request, buyer, result))
      }
      route.errorHandler = async (error, request, reply) => {
        if (!(error instanceof BuyerProblem)) return errorHandler ? errorHandler.call(app, error, request, reply) : reply.sendProblem(error)
        try {
          request.refusePage()
        } catch (refused) {
          return reply.sendProblem(asError(refused))
        }
        prepareRefusal(request, error.buyer)
        return reply.sendProblem(await authenticate(request, error.buyer).then(() => error, asError))
      }
    })

    /** @throws Problem `unauthenticated`, `forbidden` */
    async function authenticate(request: FastifyRequest, { sender, answer }: BuyerSubmission): Promise<void> {
      // Malformed cXML has no sender to authenticate. The refusal names what is malformed.
      if (!sender && answer.vocabulary === 'cxml') return
      if (!sender || request.keyRefusal) return app.authorize(request)
      if (sender.sharedSecret !== undefined) {
        const owner = await request.callerOfKey(sender.sharedSecret)
        if (!owner) throw unauthenticated('The SharedSecret is no valid API key: it is unknown, expired or revoked.')
        const { caller } = request
        if (caller.kind === 'key' && owner.kind === 'key' && caller.customer !== owner.customer) {
          throw unauthenticated('The SharedSecret and the Authorization header field have keys of two customers. Send one of them.')
        }
        if (caller.kind !== 'key') request.identity = owner
      }
      app.authorize(request)
    }

    function prepareRefusal(request: FastifyRequest, { answer }: BuyerSubmission): void {
      request.refuseWith((problem) => {
        // The first request may still place the order. An answer in the sender's vocabulary would be final.
        if (request.problemCode === 'idempotency-in-flight') return undefined
        const written = writeRefusal(answer, problem.status, problem.detail, problem.errors ?? [], request.answerContext())
        return written && { ...written, contentType: contentTypeOf(request) }
      })
    }

    function sendOwn(reply: FastifyReply, { kind, order }: Extract<Result, { order: unknown }>): FastifyReply {
      const place = uris(path).order(order.id)
      return kind === 'placed' ? reply.created(place, order) : reply.header('location', place).represent(order, place)
    }

    /** The order is already stored. If the details of a large order cannot be written, or have no room, the answer goes without them. */
    async function bodyOf(request: FastifyRequest, { answer: basis }: BuyerSubmission, result: Result): Promise<Uint8Array> {
      const context = request.answerContext()
      const text = 'order' in result ? textOf(result.order) : undefined
      if (!('order' in result) || text === undefined) return Buffer.from(writeResult(basis, result, context))
      const { order: _, ...done } = result
      const write = () => app.documents.answer(request, { text, basis, context, done })
      return (await request.writeWithRoom(text, write)) ?? Buffer.from(writeResult(basis, result, context))
    }

    function sendResult(request: FastifyRequest, reply: FastifyReply, result: Result, body: Uint8Array): FastifyReply {
      const { vocabulary } = request.submission?.buyer?.answer ?? {}
      if ('order' in result) {
        const { id } = result.order
        const uri = uris(path)
        if (result.kind === 'placed' || result.kind === 'repeated') reply.header('location', uri.order(id))
        reply.headers({
          'content-location': uri.order(id),
          link: `<${uri.orderDocument(id)}>; rel="original", <${uri.orderResponse(id)}>; rel="response"`
        })
      }
      // Clients of cXML treat any status other than 200 as a failure of the transport.
      if (vocabulary === 'ubl' && result.kind === 'placed') reply.code(201)
      reply.headers({ 'cache-control': app.cachePolicies.never, 'content-type': contentTypeOf(request) })
      return reply.send(body)
    }
  },
  {
    name: 'buyer-documents',
    fastify: '5.x',
    dependencies: ['admission', 'auth', 'authorization', 'caching', 'checked-orders', 'documents', 'form-pages', 'negotiation', 'problems']
  }
)

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function asksForJson({ representation }: FastifyRequest): boolean {
  return representation?.suffix === 'json'
}

/** The answer has the media type of the document. */
function contentTypeOf({ mediaType = 'application/xml' }: FastifyRequest): string {
  return `${mediaType}; charset=utf-8`
}
