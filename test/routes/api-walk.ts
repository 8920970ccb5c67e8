import AjvCompiler from '@fastify/ajv-compiler'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import type { ApiDescription, Operation, OperationMethod, Response } from '../../representations/api-description.ts'
import { operationMethods } from '../../representations/api-description.ts'
import { serviceXsd } from '../../representations/service.ts'
import { toJson } from '../../schemas/json.ts'
import { orderStatusXsd } from '../../schemas/order-status.ts'
import { productXsd } from '../../schemas/product.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { shipmentXsd } from '../../schemas/shipment.ts'
import { stockXsd } from '../../schemas/stock.ts'
import { webhookXsd } from '../../schemas/webhook.ts'
import { readXml } from '../../schemas/xml.ts'

/** The paths that Fastify's router knows, in its own notation: what `printRoutes` draws as a tree. */
export function routedPaths(app: FastifyInstance): readonly string[] {
  const above: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const found = /^((?:[│ ] {3})*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line)
      if (!found) return []
      const depth = (found[1]?.length ?? 0) / 4
      above.length = depth
      above.push(found[2] ?? '')
      return found[3] === undefined ? [] : [above.join('')]
    })
}

interface DescribedOperation {
  readonly method: OperationMethod
  readonly path: string
  readonly operation: Operation
}

export function operationsOf({ paths }: ApiDescription): readonly DescribedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    operationMethods.flatMap((method) => (item[method] ? [{ method, path, operation: item[method] }] : []))
  )
}

export function resolve(description: ApiDescription, $ref: string): unknown {
  return $ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>(
      (value, step) => (value as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')],
      description
    )
}

/** Every `$ref` in a document. */
export function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' && typeof inner === 'string' ? [inner] : refsIn(inner)))
}

const vocabularies = [orderXsd, productXsd, stockXsd, orderStatusXsd, shipmentXsd, webhookXsd, serviceXsd].map(
  ({ vocabulary }) => vocabulary
)

/** The JSON of a document that was sent as XML. */
function jsonOfXml(xml: string): unknown {
  const root = readXml(xml)
  const type = vocabularies.map((vocabulary) => vocabulary.get(root.name)).find((found) => found !== undefined)
  if (!type) throw new Error(`no schema declares ${root.name}`)
  return toJson(root, type)
}

/** Validates values by schemas of the description, whose references lead into it. */
export function makeSchemaCheck(description: ApiDescription) {
  const compile = AjvCompiler()(
    { api: { $id: 'api', components: description.components } },
    { customOptions: { strict: false, coerceTypes: false, useDefaults: false, removeAdditional: false, allErrors: true } }
  )
  const local = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, inner) =>
      key === '$ref' && typeof inner === 'string' && inner.startsWith('#') ? `api${inner}` : inner
    )
  return (schema: unknown, value: unknown): string => {
    const check = compile({ schema: local(schema) } as Parameters<typeof compile>[0])
    return check(value) ? '' : JSON.stringify(check.errors)
  }
}

/** Header fields that are described wherever they are sent. */
const telling = [
  'location',
  'etag',
  'last-modified',
  'retry-after',
  'www-authenticate',
  'x-request-id',
  'preference-applied',
  'content-location'
]

/** Header fields that are sent wherever they are described for a representation that was read. */
const promised = ['etag', 'last-modified']

/** The parts of an answer that its description lacks. Empty when the two agree. */
function differences(check: ReturnType<typeof makeSchemaCheck>, described: Response, answer: LightMyRequestResponse) {
  const headers = Object.keys(described.headers ?? {}).map((header) => header.toLowerCase())
  const unknown = telling
    .filter((header) => answer.headers[header] !== undefined && !headers.includes(header))
    .map((header) => `the field ${header}`)
  if (answer.body === '') return unknown
  const [mediaType = ''] = String(answer.headers['content-type']).split(';')
  const content = described.content?.[mediaType]
  if (!content) return [...unknown, `the media type ${mediaType}`]
  const isDocument = '$ref' in content.schema || 'allOf' in content.schema
  // A problem has its JSON from RFC 9457, not from its XML.
  if (!isDocument || (mediaType.endsWith('xml') && answer.body.includes('<problem'))) return unknown
  const wrong = check(content.schema, mediaType.endsWith('json') ? answer.json() : jsonOfXml(answer.body))
  return wrong === '' ? unknown : [...unknown, wrong]
}

/** Fails unless an answer is as its operation is described: status, media type, header fields, and the document itself. */
export function makeChecker(t: Test, description: ApiDescription) {
  const check = makeSchemaCheck(description)
  return (method: OperationMethod, path: string, answer: LightMyRequestResponse): void => {
    const name = `${method} ${path} ${answer.statusCode}`
    const responses = description.paths[path]?.[method]?.responses
    const found = responses?.[String(answer.statusCode)] ?? responses?.['default']
    const described = (found && '$ref' in found ? resolve(description, found.$ref) : found) as Response | undefined
    t.strictSame(described ? differences(check, described, answer) : ['the status'], [], `${name} is as described`)
    if (method !== 'get' || answer.statusCode !== 200) return
    const fields = Object.keys(described?.headers ?? {}).map((field) => field.toLowerCase())
    const missing = promised.filter((field) => fields.includes(field) && answer.headers[field] === undefined)
    t.strictSame(missing, [], `${name} has the fields that are described`)
  }
}
