import AjvCompiler from '@fastify/ajv-compiler'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler, FastifyTypeProvider } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { type DocumentSchema, isDocumentSchema, type LocatedFault } from '../schemas/document.ts'
import type { Element, Place } from '../schemas/element.ts'
import { readXml } from '../schemas/xml.ts'
import { refuseDocument } from './documents/misdeclared.ts'
import { parseForm, parseJson, type Source } from './documents/sources.ts'
import { gateTree, originOf, readTreeSource } from './documents/trees.ts'
import { Problem } from './problem.ts'
import { maxErrors } from './xml/faults.ts'
import { pathOf, placeIn } from './xml/locations.ts'
import type { XmlGate } from './xml.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came; what `request.body` is after validation is the domain's value. */
    submission: Submission | undefined
  }
}

/** The JSON Schema of a query or of path parameters, with the type of what it lets through. */
export interface QuerySchema<T> {
  readonly static?: T
  readonly [keyword: string]: unknown
}

/** A route's body is typed by the document schema that it declares. */
export interface DocumentTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends DocumentSchema<infer T> ? T : this['schema'] extends QuerySchema<infer Q> ? Q : unknown
}

export interface Submission {
  readonly bytes: Buffer
  readonly source: Source
  /** Where a place of the document is, in the sender's notation. */
  locate(place: Place): { readonly line?: number; readonly path?: string }
}

class ValidationProblem extends Problem {
  constructor(faults: readonly LocatedFault[]) {
    const count =
      faults.length >= maxErrors
        ? `the first ${maxErrors} errors are`
        : faults.length === 1
          ? 'one error is'
          : `${faults.length} errors are`
    super('invalid-document', `The document is not as its schema wants it: ${count} listed. Nothing was stored.`, {
      faults: faults.slice(0, maxErrors)
    })
  }
}

function submit(request: FastifyRequest, bytes: Buffer, source: Source): Submission {
  const submission: Submission = {
    bytes,
    source,
    locate(place) {
      if (source.notation !== 'xml') return {}
      const found = placeIn(source.parsed.tags, place)
      return found ? { line: found.line, path: pathOf(found) } : {}
    }
  }
  request.submission = submission
  return submission
}

/** More markup than any valid order within the default limits of bytes and items has: 2 MiB hold 150,000 of the shortest notes. */
const marksPerItem = 20
const leastMarks = 20_000

function mostMarks({ MAX_ORDER_ITEMS }: Config): number {
  return Math.max(leastMarks, marksPerItem * MAX_ORDER_ITEMS)
}

/** A document that is valid against its XSD. @throws Problem `invalid-document` */
function gate(submission: Submission, schema: DocumentSchema<unknown>, xml: XmlGate, config: Config): Element {
  const { source } = submission
  if (source.notation === 'xml') {
    const faults = xml.validate(source.parsed, schema.xsd, schema.roots)
    if (faults.length > 0) throw new ValidationProblem(faults)
    return readXml(source.parsed.source)
  }
  const reading = readTreeSource(source, schema, mostMarks(config))
  const faults = gateTree(reading, source.notation, schema, xml)
  if (faults.length > 0) throw new ValidationProblem(faults)
  submission.locate = (place) => originOf(reading.root, place)
  return reading.root
}

function read(submission: Submission, schema: DocumentSchema<unknown>, xml: XmlGate, config: Config): unknown {
  const root = gate(submission, schema, xml, config)
  const reported: LocatedFault[] = []
  const report = (at: Place, detail: string, code?: string) => {
    if (reported.length < maxErrors) reported.push({ detail, ...(code === undefined ? {} : { code }), ...submission.locate(at) })
  }
  const value = schema.read(root, report, { maxOrderItems: config.MAX_ORDER_ITEMS })
  if (reported.length > 0) throw new ValidationProblem(reported)
  return value
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
 * Request bodies: parsed by media type, judged by the XSD of the route's document schema through Fastify's own
 * validator, and handed to the handler as domain values.
 */
export default fp(
  async function documents(app: FastifyInstance, { config }: { config: Config }) {
    app.decorateRequest('submission', undefined)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(['application/xml', 'text/xml'], { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
      submit(request, bytes, { notation: 'xml', parsed: app.xml.parse(bytes, mostMarks(config)) })
    )
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
      submit(request, bytes, parseJson(bytes))
    )
    await app.register(formbody, { bodyLimit: config.BODY_LIMIT, parser: (text) => ({ form: text }) })

    const compileJsonSchema = AjvCompiler()(
      {},
      { customOptions: { allErrors: true, removeAdditional: false, coerceTypes: 'array', verbose: true } }
    )
    const compile: FastifySchemaCompiler<unknown> = (route) => {
      const { schema } = route
      if (!isDocumentSchema(schema)) return strictIntegers(schema, compileJsonSchema(route as Parameters<typeof compileJsonSchema>[0]))
      return (body: unknown) => {
        try {
          if (body === undefined || body === null) throw new Problem('malformed-document', 'The body is empty: a document is needed.')
          return { value: read(body as Submission, schema, app.xml, config) }
        } catch (error) {
          return { error: error as Error }
        }
      }
    }
    app.setValidatorCompiler(compile)

    // @fastify/formbody hands over the text; it becomes a submission like the others before it is validated.
    app.addHook('preValidation', async (request) => {
      const body = request.body
      if (typeof body !== 'object' || body === null || !('form' in body) || typeof body.form !== 'string') return
      refuseDocument(request, body.form)
      request.body = submit(request, Buffer.from(body.form), parseForm(body.form))
    })
  },
  { name: 'documents', fastify: '5.x', dependencies: ['xml', 'problems'] }
)
