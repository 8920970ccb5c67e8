import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler, FastifyTypeProvider } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import type { BuyerSubmission } from '../dialects/submission.ts'
import { BuyerProblem } from '../documents/buyer-problem.ts'
import type { Documents } from '../documents/documents.ts'
import type { DocumentLimits, FormFields, Notation } from '../documents/job.ts'
import type { Sender } from '../documents/payer.ts'
import { fromJson } from '../domain/deferred.ts'
import { addWait } from '../http/hooks.ts'
import { jsonValidator } from '../http/json-validator.ts'
import { charsetOf, refuseDocument, xmlMediaTypes } from '../http/media-types.ts'
import { Problem } from '../http/problem.ts'
import type { QuerySchema } from '../http/query-schema.ts'
import { senderName } from '../http/sender-name.ts'
import { type DocumentSchema, isDocumentSchema, type LocatedFault } from '../schemas/document.ts'

declare module 'fastify' {
  interface FastifyInstance {
    documents: Documents
  }
  interface FastifyRequest {
    /** The body as received. After validation, `request.body` is the domain's value. */
    submission: Submission | undefined
    /** The fields of a form post, including those whose names start with `_`, as far as a page can show them again. */
    form(): URLSearchParams | undefined
    /** The sender: a customer, or an address. Senders take turns: documents of one sender wait for each other first. */
    sender(): Sender
    /** The faults with their places in the document as it was sent, instead of those in its value. @throws Problem */
    locate(faults: readonly LocatedFault[]): Promise<readonly LocatedFault[]>
  }
}

/** Derives the type of a route's body from its document schema. */
export interface DocumentTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends DocumentSchema<infer T> ? T : this['schema'] extends QuerySchema<infer Q> ? Q : unknown
}

export interface Submission {
  readonly notation: Notation
  readonly bytes: Buffer
  /** The Content-Type says that it is in US-ASCII. */
  readonly isAscii?: boolean
  /** The fields of a form, as far as a page can show them again. */
  readonly fields?: FormFields
  /** Hexadecimal SHA-256 of the bytes, once the document was read. */
  readonly digest: string | undefined
  /** The request of a document in a buyer's vocabulary, once it is read. Absent if the document is in the shop's own vocabulary. */
  readonly buyer: BuyerSubmission | undefined
  /** The id of the resource that the document names, if it names one and its schema has an `identity`. */
  readonly named: string | undefined
  /** The schema that the document was read with. */
  readonly schema: DocumentSchema<unknown> | undefined
  /** Reads the document, and replaces the request's body with its value. @throws Problem */
  readAs(schema: DocumentSchema<unknown>): Promise<void>
}

function isSubmission(body: unknown): body is Submission {
  return typeof body === 'object' && body !== null && 'readAs' in body
}

function isFormText(body: unknown): body is { readonly form: string } {
  return typeof body === 'object' && body !== null && 'form' in body && typeof body.form === 'string'
}

/** The bytes of a body that was read: of a document, or of a form. */
export function bytesOfBody(body: unknown): number {
  if (isSubmission(body)) return body.bytes.length
  return isFormText(body) ? Buffer.byteLength(body.form) : 0
}

// Within the default limits of bytes and items, no valid order has so much markup. 2 MiB could hold 150,000 of the shortest notes.
const marksPerItem = 20
const minMarks = 20_000

function limitsOf({ MAX_ORDER_ITEMS }: Config): DocumentLimits {
  return { maxOrderItems: MAX_ORDER_ITEMS, marks: Math.max(minMarks, marksPerItem * MAX_ORDER_ITEMS) }
}

/**
 * The validator of a document schema. Fastify ignores the value that an asynchronous validator resolves with, so the
 * submission itself replaces the request's body.
 */
function documentValidator(schema: DocumentSchema<unknown>): ReturnType<FastifySchemaCompiler<unknown>> {
  const validate = async (body: unknown) => {
    if (!isSubmission(body)) throw new Problem('malformed-document', 'The body is empty. Send a document.')
    await body.readAs(schema)
    return true
  }
  // Fastify's types allow synchronous validators only.
  return validate as unknown as ReturnType<FastifySchemaCompiler<unknown>>
}

/**
 * Parses request bodies by media type, validates them in the document process against the XSD of the route's document
 * schema, and passes them to the handlers as domain values. Fastify's validator hook starts the validation.
 */
export default fp(
  async function documents(app: FastifyInstance, options: { readonly config: Config; readonly documents: Documents }) {
    const { config, documents } = options
    const limits = limitsOf(config)
    app.decorate('documents', documents)

    app.decorateRequest('submission', undefined)
    const forms = new WeakMap<FormFields, URLSearchParams>()
    app.decorateRequest('form', function (this: FastifyRequest) {
      const fields = this.submission?.fields
      if (!fields) return undefined
      const form = forms.get(fields) ?? new URLSearchParams(fields.fields.map(([name, value]): [string, string] => [name, value]))
      forms.set(fields, form)
      return form
    })
    app.decorateRequest('sender', function (this: FastifyRequest): Sender {
      const group = this.caller.kind === 'key' ? 'customers' : 'guests'
      return { name: senderName(this), group, signal: closeSignal(this.raw.socket) }
    })
    app.decorateRequest('locate', async function (this: FastifyRequest, faults: readonly LocatedFault[]) {
      const { submission } = this
      const places = faults.flatMap(({ at }) => (at ? [at] : []))
      const found =
        submission?.schema && places.length > 0 ? [...(await documents.locate(this, submission, submission.schema, limits, places))] : []
      return faults.map(({ at, ...fault }): LocatedFault => ({ ...(at ? found.shift() : {}), ...fault }))
    })

    function submit(request: FastifyRequest, sent: Pick<Submission, 'notation' | 'bytes' | 'fields' | 'isAscii'>): Submission {
      const submission: Submission = {
        ...sent,
        digest: undefined,
        buyer: undefined,
        named: undefined,
        schema: undefined,
        async readAs(schema) {
          try {
            const { text, known, named, digest, buyer } = await documents.read(request, submission, schema, limits)
            Object.assign(submission, { schema, named, digest, buyer })
            request.body = fromJson<object>(text, known)
          } catch (error) {
            if (error instanceof BuyerProblem) Object.assign(submission, { buyer: error.buyer })
            throw error
          }
        }
      }
      request.submission = submission
      return submission
    }

    app.removeAllContentTypeParsers()
    app.addContentTypeParser([...xmlMediaTypes], { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
      submit(request, { notation: 'xml', bytes, isAscii: charsetOf(request.headers['content-type'] ?? '')?.toLowerCase() === 'us-ascii' })
    )
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
      submit(request, { notation: 'json', bytes })
    )
    await app.register(formbody, { bodyLimit: config.BODY_LIMIT, parser: (text) => ({ form: text }) })

    const compile: FastifySchemaCompiler<unknown> = ({ schema }) =>
      isDocumentSchema(schema) ? documentValidator(schema) : jsonValidator(schema)
    app.setValidatorCompiler(compile)

    // @fastify/formbody gives only the text. It becomes a submission here, before the validation.
    async function submitForm(request: FastifyRequest, form: string): Promise<void> {
      refuseDocument(request, form)
      const bytes = Buffer.from(form)
      request.body = submit(request, { notation: 'form', bytes, fields: await documents.fields(request, bytes) })
    }
    addWait(app, 'preValidation', (request, _reply, done) => {
      const { body } = request
      if (isFormText(body)) submitForm(request, body.form).then(() => done(), done)
      else done()
    })
  },
  { name: 'documents', fastify: '5.x', dependencies: ['auth', 'problems', 'rate-limit', 'scheduling'] }
)

const closeSignals = new WeakMap<Socket, AbortSignal>()

/**
 * A signal that aborts when the connection closes. All requests of the connection share it. Fastify's `request.signal` does
 * not help: it aborts when the body has arrived, because Node then closes the request (nodejs.org/api/http.html,
 * IncomingMessage, event close).
 */
function closeSignal(socket: Socket): AbortSignal {
  const known = closeSignals.get(socket)
  if (known) return known
  const controller = new AbortController()
  if (socket.destroyed) controller.abort()
  else socket.once('close', () => controller.abort())
  // Many pipelined requests may listen to the signal at once, which is no leak.
  setMaxListeners(0, controller.signal)
  closeSignals.set(socket, controller.signal)
  return controller.signal
}
