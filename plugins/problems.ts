import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { guest } from '../domain/caller.ts'
import { DomainError, mostFaults, PositionError } from '../domain/errors.ts'
import { choose } from '../http/accept.ts'
import { isForm } from '../http/form-post.ts'
import { type DocumentNotation, isIn, notationOf } from '../http/notation.ts'
import { notACursor } from '../http/paging.ts'
import { Problem, retryAfter } from '../http/problem.ts'
import { codesByStatus, type ProblemCode } from '../http/problem-codes.ts'
import { mostBytes, shortDetail, shortFault, shortInstance, writeWithin } from '../http/problem-size.ts'
import { problemTypes } from '../http/problem-types.ts'
import { uris } from '../representations/links.ts'
import { type ProblemDocument, problemRepresentations } from '../representations/problem.ts'
import type { Context, Representation } from '../representations/representation.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { nothing } from './methods.ts'

/** Makes the page of a problem. Undefined: the problem has no page of its own. */
type ProblemPage = (problem: ProblemDocument) => Promise<string | undefined>

/** A problem in the vocabulary of the document that is refused. */
interface BuyerRefusal {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Writes a problem in the vocabulary of the request's document. Undefined: it is sent as a problem document. */
    writeBuyerRefusal: ((problem: ProblemDocument) => BuyerRefusal | undefined) | undefined
  }
  interface FastifyReply {
    /**
     * Answers an error as RFC 9457.
     * @param page makes the page for a client that wants HTML, in place of the problem's usual page
     */
    sendProblem(error: Error, page?: ProblemPage): Promise<FastifyReply>
  }
}

/** Error codes of Fastify and its plugins, as the service's problems. */
const fastifyCodes: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_MAX_PARAM_LENGTH: 'not-found'
}

type Refusal = FastifyError | DomainError | Problem | PositionError

/** The content of the problem that the client gets. */
interface ProblemContent {
  readonly code: ProblemCode
  readonly detail: string
  readonly faults?: readonly LocatedFault[]
  readonly headers?: Readonly<Record<string, string>>
  readonly available?: readonly string[] | undefined
  readonly orderId?: string
  readonly notation?: DocumentNotation | undefined
}

/** Characters that XML cannot hold (XML 1.0 section 2.2), for a problem that quotes what the client sent. */
const unwritable = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function writable(text: string): string {
  return text.replace(unwritable, '\ufffd')
}

/**
 * The faults with their places in the document, sorted by line. Faults without a line come last, in the order that they have.
 * The client gets the faults without their places when the document process cannot find these now.
 */
async function located(faults: readonly LocatedFault[], request: FastifyRequest): Promise<readonly LocatedFault[]> {
  const listed = faults.slice(0, mostFaults)
  const line = (fault: LocatedFault) => fault.line ?? Number.MAX_SAFE_INTEGER
  try {
    // The operator's port reads no documents, so requests there have no `locate`.
    const found = listed.some(({ at }) => at) ? await request.locate(listed) : listed
    return found.toSorted((a, b) => line(a) - line(b))
  } catch (error) {
    if (!(error instanceof Problem)) request.log.warn({ err: error }, 'the places of faults could not be found')
    return listed.map(({ at: _, ...fault }) => fault).sort((a, b) => line(a) - line(b))
  }
}

function writableFault(fault: LocatedFault): LocatedFault {
  const { detail, path, item } = shortFault(fault)
  return {
    ...fault,
    detail: writable(detail),
    ...(path === undefined ? {} : { path: writable(path) }),
    ...(item === undefined ? {} : { item: writable(item) })
  }
}

/** The content that the client gets for an error. The log gets the error itself. */
async function contentOf(error: Refusal, request: FastifyRequest, config: Config): Promise<ProblemContent> {
  if (error instanceof PositionError) return contentOf(notACursor(), request, config)
  if (error instanceof DomainError) {
    return {
      code: error.code,
      detail: error.message,
      faults: await located(error.faults, request),
      ...(error.orderId === undefined ? {} : { orderId: error.orderId })
    }
  }
  if (error instanceof Problem) {
    const { code, message, headers, available, notation } = error
    return { code, detail: message, faults: await located(error.faults, request), headers, available, notation }
  }
  const status = error.statusCode ?? 500
  const code = fastifyCodes[error.code] ?? codesByStatus[status] ?? (status >= 400 && status < 500 ? 'malformed-request' : 'internal-error')
  if (code === 'body-too-large') {
    const hint = request.method === 'PUT' ? ' What the service itself manages (totals, dates, links) can be left out.' : ''
    return { code, detail: `The body is larger than ${config.BODY_LIMIT} bytes.${hint}` }
  }
  if (code === 'unsupported-media-type') {
    const sent = request.headers['content-type']
    return {
      code,
      detail: sent === undefined ? 'The body has no Content-Type.' : `${JSON.stringify(sent)} is not read here; Accept-Post lists what is.`
    }
  }
  if (code === 'internal-error') return { code, detail: `Something went wrong here. It was logged under the request id ${request.id}.` }
  return { code, detail: status < 500 ? `${error.message.replace(/\.?$/, '.')}` : problemTypes[code].explanation }
}

/** Whether the service refused the request by its own decision, also with a 503. Anything else is an error to log. */
function isRefusal(error: unknown, code: ProblemCode): boolean {
  return problemTypes[code].status < 500 || error instanceof Problem || code === 'store-overloaded'
}

/** Answers every error as RFC 9457, in the best of three media types. */
export default fp(
  async function problems(app: FastifyInstance, { config }: { config: Config }) {
    const base = config.BASE_URL.path

    function problemOf(content: ProblemContent, request: FastifyRequest): ProblemDocument {
      const { status, title } = problemTypes[content.code]
      return {
        type: uris(base).problem(content.code),
        title,
        status,
        detail: writable(shortDetail(content.detail)),
        instance: shortInstance(request.url),
        ...(content.orderId === undefined ? {} : { order: uris(base).order(content.orderId) }),
        ...(content.available ? { available: content.available } : {}),
        ...(content.faults && content.faults.length > 0 ? { errors: content.faults.slice(0, mostFaults).map(writableFault) } : {})
      }
    }

    function contextFor(request: FastifyRequest): Context {
      return {
        base,
        currency: config.CURRENCY,
        shop: config.SHOP_NAME,
        caller: request.caller ?? guest,
        self: request.url,
        isFormPost: request.method === 'POST' && isForm(request)
      }
    }

    async function send(content: ProblemContent, request: FastifyRequest, reply: FastifyReply, page?: ProblemPage) {
      const problem = problemOf(content, request)
      const { status } = problem
      const representation = representationFor(request, content.notation ?? notationOf(request))
      const buyerRefusal = representation.suffix === 'json' ? undefined : request.writeBuyerRefusal?.(problem)
      for (const name of ['etag', 'last-modified', 'link', 'cache-control']) reply.removeHeader(name)
      keepOpen(reply)
      if (buyerRefusal) return sendBuyerRefusal(reply, buyerRefusal)
      if (status === 503) reply.headers(retryAfter)
      if (content.orderId !== undefined) reply.header('location', uris(base).order(content.orderId))
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

    app.decorateRequest('writeBuyerRefusal', undefined)
    app.decorateReply('sendProblem', async function (this: FastifyReply, error: Error, page?: ProblemPage) {
      const { request } = this
      const content = await contentOf(error as Refusal, request, config)
      if (isRefusal(error, content.code)) request.refusal = { code: content.code, detail: content.detail }
      else request.log.error({ err: error }, 'request failed')
      return send(content, request, this, page)
    })
    app.setErrorHandler(async (error: Refusal, _request, reply) => reply.sendProblem(error))
    app.setNotFoundHandler((request, reply) => send({ code: 'not-found', detail: nothing }, request, reply))
  },
  { name: 'problems', fastify: '5.x' }
)

/**
 * Fastify closes the connection because of the rest of the body, but plugins/framing reads and discards that rest. If the
 * service stops, the raw response has the header too, and the connection must close.
 */
function keepOpen(reply: FastifyReply): void {
  if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) reply.removeHeader('connection')
}

/** The page links to the sign-in page. With Basic in the challenge, a browser would ask for a password instead. */
const pageChallenge = { 'www-authenticate': 'Bearer realm="tradepost"' }

function sendBuyerRefusal(reply: FastifyReply, { status, contentType, body }: BuyerRefusal): FastifyReply {
  return reply.code(status).headers({ vary: 'Accept', 'cache-control': 'no-store', 'content-type': contentType }).send(Buffer.from(body))
}

/** The page, unless it is larger than the answer to a refused document may be. */
async function fittingPage(problem: ProblemDocument, page?: ProblemPage): Promise<string | undefined> {
  const html = await page?.(problem)
  return html !== undefined && Buffer.byteLength(html) <= mostBytes ? html : undefined
}

/** The media type that Accept asks for. If it names none of the three, that of the document that was sent, or XML. */
function representationFor(request: FastifyRequest, notation: DocumentNotation | undefined): Representation<ProblemDocument> {
  // A document in a buyer's vocabulary is never answered with a page.
  const offered = request.writeBuyerRefusal ? problemRepresentations.filter(({ suffix }) => suffix !== 'html') : problemRepresentations
  const offers = offered.map((offer) => ({
    names: [offer.mediaType, ...(alsoAskedAs[offer.mediaType] ?? [])],
    own: isIn(notation, offer)
  }))
  const chosen = choose(request.headers.accept, offers)
  const ofOwn = offers.findIndex(({ own }) => own)
  const representation = offered[Math.max(0, chosen === -1 ? ofOwn : chosen)]
  if (!representation) throw new Error('there is no problem representation')
  return representation
}

/** A client that asks for plain XML or JSON gets the problem in it. */
const alsoAskedAs: Readonly<Record<string, readonly string[]>> = {
  'application/problem+xml': ['application/xml', 'text/xml'],
  'application/problem+json': ['application/json']
}
