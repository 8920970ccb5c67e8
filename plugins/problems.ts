import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { pageChallenge } from '../http/credentials.ts'
import { isForm } from '../http/form-post.ts'
import { notationOf } from '../http/notation.ts'
import { noResource, Problem, retryAfter } from '../http/problem.ts'
import type { ProblemCode } from '../http/problem-codes.ts'
import { contentOf, isRefusal, type ProblemContent, problemDocument, type RequestError } from '../http/problem-content.ts'
import { problemRepresentation } from '../http/problem-representation.ts'
import { mostBytes, writeWithin } from '../http/problem-size.ts'
import { uris } from '../representations/links.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import type { Context } from '../representations/representation.ts'
import type { LocatedFault } from '../schemas/document.ts'

/** Makes the page of a problem. Undefined: the problem has no page of its own. */
type ProblemPage = (problem: ProblemDocument) => Promise<string | undefined>

/** A problem in the vocabulary of the document that is refused. */
interface BuyerRefusal {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** Header fields of an answer that a problem replaces. They would describe what is not sent. */
const fieldsOfAnswer = [
  'etag',
  'last-modified',
  'link',
  'cache-control',
  'content-location',
  'content-disposition',
  'preference-applied'
] as const

type WriteBuyerRefusal = (problem: ProblemDocument) => BuyerRefusal | undefined

declare module 'fastify' {
  interface FastifyRequest {
    /** The type of the problem that the request was answered with, whatever the status of the answer is. */
    problemCode: ProblemCode | undefined
    /**
     * Has a problem of this request answered in the vocabulary of its document.
     * @param write returns undefined for a problem that is sent as a problem document
     */
    refuseWith(write: WriteBuyerRefusal): void
  }
  interface FastifyReply {
    /**
     * Answers an error as RFC 9457.
     * @param page makes the page for a client that wants HTML, in place of the problem's usual page
     */
    sendProblem(error: Error, page?: ProblemPage): Promise<FastifyReply>
  }
}

/**
 * The faults with their places in the document, sorted by line. Faults without a line come last, in the order that they have.
 * The client gets the faults without their places when the document process cannot find these now.
 */
async function located(faults: readonly LocatedFault[], request: FastifyRequest): Promise<readonly LocatedFault[]> {
  const line = (fault: LocatedFault) => fault.line ?? Number.MAX_SAFE_INTEGER
  try {
    // The operator's port reads no documents, so requests there have no `locate`.
    const found = faults.some(({ at }) => at) ? await request.locate(faults) : faults
    return found.toSorted((a, b) => line(a) - line(b))
  } catch (error) {
    if (!(error instanceof Problem)) request.log.warn({ err: error }, 'the places of faults could not be found')
    return faults.map(({ at: _, ...fault }) => fault).sort((a, b) => line(a) - line(b))
  }
}

/** Answers every error as RFC 9457, in the best of three media types. */
export default fp(
  async function problems(app: FastifyInstance, { config }: { config: Config }) {
    const base = config.BASE_URL.path
    const buyerRefusals = new WeakMap<FastifyRequest, WriteBuyerRefusal>()

    function contextFor(request: FastifyRequest): Context {
      return {
        base,
        currency: config.CURRENCY,
        shop: config.SHOP_NAME,
        caller: request.caller,
        self: request.url,
        isFormPost: request.method === 'POST' && isForm(request)
      }
    }

    /** Links what the request conflicts with. A refusal of cXML has the status 200, with which a Location would mean a new order. */
    function linkConflict(reply: FastifyReply, { orderId, productId }: ProblemContent, sentStatus: number): void {
      if (sentStatus < 400) return
      if (orderId !== undefined) reply.header('location', uris(base).order(orderId))
      if (productId !== undefined) reply.header('location', uris(base).product(productId))
    }

    async function send(content: ProblemContent, request: FastifyRequest, reply: FastifyReply, page?: ProblemPage) {
      const problem = problemDocument(content, request.url, base)
      const { status } = problem
      const notation = content.notation ?? notationOf(request)
      const writeBuyerRefusal = buyerRefusals.get(request)
      const representation = problemRepresentation(request.headers.accept, notation, writeBuyerRefusal === undefined)
      const buyerRefusal = representation.suffix === 'json' ? undefined : writeBuyerRefusal?.(problem)
      for (const name of fieldsOfAnswer) reply.removeHeader(name)
      keepOpen(reply)
      linkConflict(reply, content, buyerRefusal?.status ?? status)
      if (buyerRefusal) return sendBuyerRefusal(reply, buyerRefusal)
      if (status === 503) reply.headers(retryAfter)
      const isPage = representation.suffix === 'html'
      const own = isPage ? await fittingPage(problem, page) : undefined
      const body = own ?? writeWithin(problem, (shortened) => representation.write(shortened, contextFor(request)))
      return (
        reply
          .code(status)
          .headers({
            ...content.headers,
            ...(isPage && status === 401 ? pageChallenge : {}),
            vary: 'Accept',
            'cache-control': 'no-store',
            'content-type': representation.contentType
          })
          // As bytes: to a string Fastify would add a charset, which JSON's media types do not have (RFC 8259 section 11).
          .send(typeof body === 'string' ? Buffer.from(body) : body)
      )
    }

    app.decorateRequest('problemCode', undefined)
    app.decorateRequest('refuseWith', function (this: FastifyRequest, write: WriteBuyerRefusal) {
      buyerRefusals.set(this, write)
    })
    app.decorateReply('sendProblem', async function (this: FastifyReply, error: Error, page?: ProblemPage) {
      const { request } = this
      const known = contentOf(error as RequestError, request, config.BODY_LIMIT)
      const content = known.faults ? { ...known, faults: await located(known.faults, request) } : known
      request.problemCode = content.code
      if (isRefusal(error, content.code)) request.refusal = { code: content.code, detail: content.detail }
      else request.log.error({ err: error }, 'request failed')
      return send(content, request, this, page)
    })
    app.setErrorHandler(async (error: RequestError, _request, reply) => reply.sendProblem(error))
    app.setNotFoundHandler(({ url }, reply) => reply.sendProblem(noResource(base, url)))
  },
  { name: 'problems', fastify: '5.x', dependencies: ['logging'] }
)

/**
 * Removes the `Connection: close` that Fastify sets because of the rest of the body: plugins/framing reads and discards that rest.
 * If the service stops, the raw response has the field too, and the connection must close.
 */
function keepOpen(reply: FastifyReply): void {
  if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) reply.removeHeader('connection')
}

function sendBuyerRefusal(reply: FastifyReply, { status, contentType, body }: BuyerRefusal): FastifyReply {
  return reply.code(status).headers({ vary: 'Accept', 'cache-control': 'no-store', 'content-type': contentType }).send(Buffer.from(body))
}

/** The page, unless it is larger than the answer to a refused document may be. */
async function fittingPage(problem: ProblemDocument, page?: ProblemPage): Promise<string | undefined> {
  const html = await page?.(problem)
  return html !== undefined && Buffer.byteLength(html) <= mostBytes ? html : undefined
}
