import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import type { Location } from '../documents/job.ts'
import { guest } from '../domain/caller.ts'
import { DomainError, PositionError } from '../domain/errors.ts'
import { choose } from '../http/accept.ts'
import { isForm } from '../http/form-post.ts'
import { type DocumentNotation, isIn, notationOf } from '../http/notation.ts'
import { notACursor } from '../http/paging.ts'
import { Problem, retryAfter } from '../http/problem.ts'
import { mostBytes, mostFaults, shortDetail, shortFault, shortInstance, writeWithin } from '../http/problem-size.ts'
import { codesByStatus, type ProblemCode, problemTypes } from '../http/problem-types.ts'
import { uris } from '../representations/links.ts'
import { type ProblemDocument, problemRepresentations } from '../representations/problem.ts'
import type { Context, Representation } from '../representations/representation.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { Place } from '../schemas/element.ts'
import { shorten } from '../schemas/shorten.ts'
import { nothing } from './methods.ts'

/** What Fastify and its plugins refuse by themselves, in the service's terms. */
const fastifyCodes: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_MAX_PARAM_LENGTH: 'not-found'
}

interface Told {
  readonly code: ProblemCode
  readonly detail: string
  readonly faults?: readonly LocatedFault[]
  readonly headers?: Readonly<Record<string, string>>
  readonly available?: readonly string[] | undefined
  readonly orderId?: string
  readonly notation?: DocumentNotation | undefined
}

/** What XML cannot hold (XML 1.0 section 2.2): a client may have sent it, and is told of it in XML. */
const unwritable = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function writable(text: string): string {
  return text.replace(unwritable, '\ufffd')
}

/**
 * The faults with where they are in what was sent: by line where there are lines; what has none comes last, and otherwise
 * stays in the order that it has.
 */
async function located(
  { faults }: { readonly faults: readonly LocatedFault[] },
  request: FastifyRequest
): Promise<readonly LocatedFault[]> {
  const listed = faults.slice(0, mostFaults)
  const found = [
    ...(await locations(
      listed.flatMap(({ at }) => (at ? [at] : [])),
      request
    ))
  ]
  const line = (fault: LocatedFault) => fault.line ?? Number.MAX_SAFE_INTEGER
  return listed.map(({ at, ...told }): LocatedFault => ({ ...(at ? found.shift() : {}), ...told })).sort((a, b) => line(a) - line(b))
}

/** A fault is told without its place when the place cannot be found now: who sent the document may have gone. */
async function locations(places: readonly Place[], request: FastifyRequest): Promise<readonly Location[]> {
  // On the operator's port no document is read, and none is to be located.
  if (places.length === 0) return []
  try {
    return await request.locate(places)
  } catch (error) {
    if (!(error instanceof Problem)) request.log.warn({ err: error }, 'the places of faults could not be found')
    return []
  }
}

function writableFault(fault: LocatedFault): LocatedFault {
  const { detail, path } = shortFault(fault)
  return { ...fault, detail: writable(detail), ...(path === undefined ? {} : { path: writable(path) }) }
}

/** What the client is told of an error; the log is told the error itself. */
async function tell(error: FastifyError | DomainError | Problem | PositionError, request: FastifyRequest, config: Config): Promise<Told> {
  if (error instanceof PositionError) return tell(notACursor(), request, config)
  if (error instanceof DomainError) {
    return {
      code: error.code,
      detail: error.message,
      faults: await located(error, request),
      ...(error.orderId === undefined ? {} : { orderId: error.orderId })
    }
  }
  if (error instanceof Problem) {
    const { code, message, headers, available, notation } = error
    return { code, detail: message, faults: await located(error, request), headers, available, notation }
  }
  if (error.validation) return tellValidation(error)
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

/** What the service refuses by its own decision is its ordinary business, also where the status is 503. */
function isRefusal(error: unknown, code: ProblemCode): boolean {
  return problemTypes[code].status < 500 || error instanceof Problem || code === 'store-overloaded'
}

/** A query's faults, with the parameters that there are where one is none of them. */
function tellValidation(error: FastifyError): Told {
  const known = new Set<string>()
  const faults = (error.validation ?? []).map((fault): LocatedFault => {
    const { instancePath, keyword, params, message = '' } = fault
    const name = String(params['additionalProperty'] ?? instancePath.slice(1))
    if (keyword !== 'additionalProperties') return { detail: `${shorten(name)} ${message}.`, path: name }
    const { parentSchema } = fault as { parentSchema?: { properties?: object } }
    for (const one of Object.keys(parentSchema?.properties ?? {})) known.add(one)
    return { detail: `There is no parameter ${JSON.stringify(shorten(name))}.`, path: name }
  })
  const detail = faults.map((fault) => fault.detail).join(' ')
  if (known.size === 0) return { code: 'malformed-request', detail, faults }
  return { code: 'malformed-request', detail: `${detail} There is ${[...known].join(', ')}.`, faults, available: [...known] }
}

/** Everything that fails leaves here, as RFC 9457 in the best of three forms. */
export default fp(
  async function problems(app: FastifyInstance, { config }: { config: Config }) {
    const base = config.BASE_URL.path

    function problemOf(told: Told, request: FastifyRequest): ProblemDocument {
      const { status, title } = problemTypes[told.code]
      return {
        type: uris(base).problem(told.code),
        title,
        status,
        detail: writable(shortDetail(told.detail)),
        instance: shortInstance(request.url),
        ...(told.orderId === undefined ? {} : { order: uris(base).order(told.orderId) }),
        ...(told.available ? { available: told.available } : {}),
        ...(told.faults && told.faults.length > 0 ? { errors: told.faults.slice(0, mostFaults).map(writableFault) } : {})
      }
    }

    async function send(told: Told, request: FastifyRequest, reply: FastifyReply) {
      const problem = problemOf(told, request)
      const { status } = problem
      const representation = representationFor(request, told.notation ?? notationOf(request))
      const context: Context = {
        base,
        currency: config.CURRENCY,
        shop: config.SHOP_NAME,
        caller: request.caller ?? guest,
        self: request.url,
        isFormPost: request.method === 'POST' && isForm(request)
      }
      for (const name of ['etag', 'last-modified', 'link', 'cache-control']) reply.removeHeader(name)
      // Fastify would close for fear of the rest of the body, which plugins/framing reads and throws away. Where it closes
      // because the service stops, it has said so on the raw response.
      if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) reply.removeHeader('connection')
      if (status === 503) reply.headers(retryAfter)
      if (told.orderId !== undefined) reply.header('location', uris(base).order(told.orderId))
      const form = representation.suffix === 'html' ? await formAgain(problem, request) : undefined
      const body = form ?? writeWithin(problem, (told) => representation.write(told, context))
      // A person gets a link to the sign-in page; naming Basic here would have the browser ask for a password before it.
      const challenge = representation.suffix === 'html' && status === 401 ? { 'www-authenticate': 'Bearer realm="tradepost"' } : {}
      return (
        reply
          .code(status)
          .headers({
            ...told.headers,
            ...challenge,
            vary: 'Accept',
            'cache-control': 'no-store',
            'content-type': representation.contentType
          })
          // As bytes: to a string Fastify would add a charset, which JSON's media types do not have (RFC 8259 section 11).
          .send(typeof body === 'string' ? Buffer.from(body) : body)
      )
    }

    /** A person's form comes back with what is wrong in it. What fails on the way to that page must not hide the problem. */
    async function formAgain(problem: ProblemDocument, request: FastifyRequest): Promise<string | undefined> {
      try {
        const form = await request.refusedForm?.(problem)
        return form === undefined || Buffer.byteLength(form) > mostBytes ? undefined : form
      } catch (error) {
        if (!(error instanceof Problem)) request.log.warn({ err: error }, 'the form could not be shown again')
        return undefined
      }
    }

    app.setErrorHandler(async (error: FastifyError | DomainError | Problem | PositionError, request, reply) => {
      const told = await tell(error, request, config)
      if (isRefusal(error, told.code)) request.refusal = { code: told.code, detail: told.detail }
      else request.log.error({ err: error }, 'request failed')
      return send(told, request, reply)
    })
    app.setNotFoundHandler((request, reply) => send({ code: 'not-found', detail: nothing }, request, reply))
  },
  { name: 'problems', fastify: '5.x' }
)

/** What the client wants the problem in; where it wants none of the forms that there are, its document's own, or XML. */
function representationFor(request: FastifyRequest, notation: DocumentNotation | undefined): Representation<ProblemDocument> {
  const offers = problemRepresentations.map((offer) => ({
    names: [offer.mediaType, ...(alsoAskedAs[offer.mediaType] ?? [])],
    own: isIn(notation, offer)
  }))
  const chosen = choose(request.headers.accept, offers)
  const ofOwn = offers.findIndex(({ own }) => own)
  const representation = problemRepresentations[Math.max(0, chosen === -1 ? ofOwn : chosen)]
  if (!representation) throw new Error('there is no problem representation')
  return representation
}

/** A client that asks for plain XML or JSON means the problem in it. */
const alsoAskedAs: Readonly<Record<string, readonly string[]>> = {
  'application/problem+xml': ['application/xml', 'text/xml'],
  'application/problem+json': ['application/json']
}
