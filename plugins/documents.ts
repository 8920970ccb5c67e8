import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import AjvCompiler from '@fastify/ajv-compiler'
import formbody from '@fastify/formbody'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler, FastifyTypeProvider } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { Documents, type Sender } from '../documents/documents.ts'
import type { DocumentLimits, FormFields, Location, Notation } from '../documents/job.ts'
import { defer, isLarge } from '../domain/deferred.ts'
import { refuseDocument } from '../http/media-types.ts'
import { Problem } from '../http/problem.ts'
import type { QuerySchema } from '../http/query-schema.ts'
import { type DocumentSchema, isDocumentSchema } from '../schemas/document.ts'
import type { Place } from '../schemas/element.ts'

declare module 'fastify' {
  interface FastifyInstance {
    documents: Documents
  }
  interface FastifyRequest {
    /** The body as it came; what `request.body` is after validation is the domain's value. */
    submission: Submission | undefined
    /** The fields of a form post, those whose names start with `_` included, as far as a page can show them again. */
    form(): URLSearchParams | undefined
    /** Who sends: documents of one sender wait for each other before they wait for anybody else's. */
    sender(): Sender
    /** The body as a document of the schema. @throws Problem */
    readDocument<T>(schema: DocumentSchema<T>): Promise<T>
    /** Where places of the document that was read are, in the sender's notation. */
    locate(places: readonly Place[]): Promise<readonly Location[]>
  }
}

/** A route's body is typed by the document schema that it declares. */
export interface DocumentTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends DocumentSchema<infer T> ? T : this['schema'] extends QuerySchema<infer Q> ? Q : unknown
}

export interface Submission {
  readonly notation: Notation
  readonly bytes: Buffer
  /** Of a form: as much as a page can show again. */
  readonly fields?: FormFields
  /** SHA-256 of the bytes, hexadecimal, once it was read. */
  readonly digest?: string
  /** What it was read as. */
  readonly schema?: DocumentSchema<unknown>
  /** Reads it, and puts its value in the place of the request's body. @throws Problem */
  become(schema: DocumentSchema<unknown>): Promise<void>
}

function isSubmission(body: unknown): body is Submission {
  return typeof body === 'object' && body !== null && 'become' in body
}

function emptyBody(): Problem {
  return new Problem('malformed-document', 'The body is empty: a document is needed.')
}

/** More markup than any valid order within the default limits of bytes and items has: 2 MiB hold 150,000 of the shortest notes. */
const marksPerItem = 20
const leastMarks = 20_000

function documentLimits({ MAX_ORDER_ITEMS }: Config): DocumentLimits {
  return { maxOrderItems: MAX_ORDER_ITEMS, marks: Math.max(leastMarks, marksPerItem * MAX_ORDER_ITEMS) }
}

function valueFrom<T>(text: string): T {
  const value = isLarge(text) ? defer(text, {}) : JSON.parse(text)
  return value as T
}

type Judge = ReturnType<FastifySchemaCompiler<unknown>>

/** Ajv takes for an integer whatever JavaScript makes a number of: `0x10`, `1e2`, ` 1`. Here it is digits. */
function strictIntegers(schema: unknown, judge: Judge): Judge {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { type?: unknown }>> }
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer')
  const strict: Judge = (given: Readonly<Record<string, unknown>>) => {
    const odd = integers.filter((name) => typeof given?.[name] === 'string' && !/^-?\d+$/.test(given[name]))
    if (odd.length === 0) {
      const judged = judge(given)
      // Fastify reads a refusal's reasons from the function that refused.
      Object.assign(strict, { errors: (judge as { errors?: unknown }).errors })
      return judged
    }
    const faults = odd.map((path) => ({ path, detail: `${path} must be integer.` }))
    return { error: new Problem('malformed-request', faults.map(({ detail }) => detail).join(' '), { faults }) }
  }
  return strict
}

/**
 * Fastify takes of an asynchronous validator only whether it accepts, since Ajv's resolve with the data itself; so the
 * document puts its value in the place of the body.
 */
function judgeBy(schema: DocumentSchema<unknown>): Judge {
  const judge = async (body: unknown) => {
    if (!isSubmission(body)) throw emptyBody()
    await body.become(schema)
    return true
  }
  // The types know validators that answer at once.
  return judge as unknown as Judge
}

/**
 * Request bodies: collected by media type, judged by the XSD of the route's document schema in the document process, through
 * Fastify's own validator, and handed to the handler as domain values.
 */
export default fp(
  async function documents(app: FastifyInstance, { config }: { config: Config }) {
    const limits = documentLimits(config)
    const documents = sharedDocuments((details, message) => app.log.warn(details, message))
    app.decorate('documents', documents)

    app.decorateRequest('submission', undefined)
    app.decorateRequest('form', function (this: FastifyRequest) {
      const fields = this.submission?.fields
      return fields && new URLSearchParams(fields.fields.map(([name, value]): [string, string] => [name, value]))
    })
    const senders = new WeakMap<FastifyRequest, Sender>()
    app.decorateRequest('sender', function (this: FastifyRequest): Sender {
      const known = senders.get(this)
      if (known) return known
      const name = this.caller?.kind === 'key' ? `customer ${this.caller.customer}` : `address ${normalizeIP(this.ip)}`
      const sender = { name, signal: leaving(this.raw.socket) }
      // Before the caller is known it is not yet who pays.
      if (this.caller) senders.set(this, sender)
      return sender
    })
    app.decorateRequest('readDocument', async function <T>(this: FastifyRequest, schema: DocumentSchema<T>): Promise<T> {
      const { submission } = this
      if (!submission) throw emptyBody()
      const { text, digest } = await documents.read(this, submission, schema, limits)
      Object.assign(submission, { schema, digest })
      return valueFrom<T>(text)
    })
    app.decorateRequest('locate', async function (this: FastifyRequest, places: readonly Place[]) {
      const { submission } = this
      if (!submission?.schema || places.length === 0) return []
      return documents.locate(this, submission, submission.schema, limits, places)
    })

    function submit(request: FastifyRequest, sent: Pick<Submission, 'notation' | 'bytes' | 'fields'>): Submission {
      const submission: Submission = {
        ...sent,
        async become(schema) {
          request.body = await request.readDocument(schema)
        }
      }
      request.submission = submission
      return submission
    }

    app.removeAllContentTypeParsers()
    app.addContentTypeParser(['application/xml', 'text/xml'], { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
      submit(request, { notation: 'xml', bytes })
    )
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
      submit(request, { notation: 'json', bytes })
    )
    await app.register(formbody, { bodyLimit: config.BODY_LIMIT, parser: (text) => ({ form: text }) })

    const compileJsonSchema = AjvCompiler()(
      {},
      { customOptions: { allErrors: true, removeAdditional: false, coerceTypes: 'array', verbose: true } }
    )
    const compile: FastifySchemaCompiler<unknown> = (route) => {
      const { schema } = route
      if (!isDocumentSchema(schema)) return strictIntegers(schema, compileJsonSchema(route as Parameters<typeof compileJsonSchema>[0]))
      return judgeBy(schema)
    }
    app.setValidatorCompiler(compile)

    // @fastify/formbody hands over the text; it becomes a submission like the others before it is validated.
    app.addHook('preValidation', async (request) => {
      const body = request.body
      if (typeof body !== 'object' || body === null || !('form' in body) || typeof body.form !== 'string') return
      refuseDocument(request, body.form)
      const bytes = Buffer.from(body.form)
      request.body = submit(request, { notation: 'form', bytes, fields: await documents.fields(request, bytes) })
    })
  },
  { name: 'documents', fastify: '5.x', dependencies: ['auth', 'problems', 'rate-limit'] }
)

const departures = new WeakMap<Socket, AbortSignal>()

/**
 * Aborted when a connection closes; one for all its requests. Fastify's own `request.signal` is aborted when the body has
 * arrived, since Node then closes the request (nodejs.org/api/http.html, IncomingMessage, event close).
 */
function leaving(socket: Socket): AbortSignal {
  const known = departures.get(socket)
  if (known) return known
  const controller = new AbortController()
  if (socket.destroyed) controller.abort()
  else socket.once('close', () => controller.abort())
  // Many requests of a connection may wait at once.
  setMaxListeners(0, controller.signal)
  departures.set(socket, controller.signal)
  return controller.signal
}

let shared: Documents | undefined

/** One for all services of a process, as tests have many. */
function sharedDocuments(warn: ConstructorParameters<typeof Documents>[0]): Documents {
  if (shared) return shared
  // It ends with this process: the document process leaves when the channel between them closes.
  shared = new Documents(warn)
  return shared
}
