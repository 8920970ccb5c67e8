import type { Config } from '../config.ts'
import { scopes } from '../domain/caller.ts'
import { shortestGuestKey } from '../http/idempotency-key.ts'
import { keyPrefix } from '../http/masked-names.ts'
import type { ApiDescription, Operation, Parameter, PathItem, Reference } from '../representations/api-description.ts'
import { uris } from '../representations/links.ts'
import type { Pieces } from '../representations/pieces.ts'
import type { KeepExample } from './bodies.ts'
import { makeDocumentSchemas } from './components.ts'
import { headerComponents, requestFields, responseFields } from './fields.ts'
import { headOf, parametersOf, tagOf, type Writing, writeOperation } from './operation.ts'
import { makeProblemResponses, type ProblemResponses } from './problem-responses.ts'
import type { DescribedRoute } from './rules.ts'

const tags: Readonly<Record<string, string>> = {
  Catalogue: 'Products and their stock. Everybody can read them. Writing needs the scope `catalogue`.',
  Orders: 'Place, read, change and cancel purchase orders. The seller sets their status with the scope `fulfilment`.',
  Events: 'What happened in the shop, as a feed, and as webhooks that the shop calls.',
  Service: 'The entry point, the schemas and the documentation.',
  Operations: 'For the operator of the service.'
}

const about = `A web shop over plain HTTP. Every resource has one URI, and is available as XML, HTML and JSON.

- **Representations** are negotiated with \`Accept\`. A read with \`*/*\` or without \`Accept\` gets XML. A request with a document gets its response in the same notation, unless \`Accept\` names another with a higher weight. JSON has the names of the XML: \`order-number\` is \`orderNumber\`. Repeatable elements are arrays. Numbers are strings, so that no digit is lost; requests may also contain plain numbers without an exponent. An element with attributes is an object with its text as \`value\`.
- **Methods**: every resource with GET also has HEAD. A method that a resource does not support gets 405 with \`Allow\`.
- **Changing a resource**: GET it, edit the document, and PUT it back with its \`ETag\` in \`If-Match\`. Fields that the server manages are ignored in requests.
- **Ordering safely**: send an \`Idempotency-Key\`, and repeat the request until you get a response. A guest's key must be secret and have at least ${shortestGuestKey} characters.
- **Problems** are RFC 9457 documents. Their \`type\` is the URI of an explanation. All errors of a document are reported at once.`

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: `${keyPrefix}…`,
    description: `An API key of the shop. Its scopes: ${scopes.join(', ')}.`
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The same key as the password, with any user name, for clients that know only Basic.'
  }
} as const

/** Converts Fastify's `/product/:product_id` to OpenAPI's `/product/{product_id}`. */
const template = (path: string) => path.replace(/:([A-Za-z_]+)/g, '{$1}')

const methods = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const

function isDescribedMethod(method: string): method is keyof typeof methods {
  return Object.hasOwn(methods, method)
}

/** plugins/methods answers OPTIONS at every path. */
function optionsOf(first: Operation, problems: ProblemResponses): Operation {
  const headers = responseFields(['Allow', 'Accept-Post', 'X-Request-Id'])
  return {
    operationId: `${first.operationId}Options`,
    summary: 'The methods of this resource',
    tags: first.tags,
    security: [{}],
    responses: {
      204: { description: 'Allow lists the methods, and Accept-Post the media types that POST accepts.', ...headers },
      ...problems.refs(['unauthenticated', 'too-many-requests'])
    }
  }
}

/** Makes the OpenAPI 3.1 document of all routes that have a description, one route at a time: all of them take a tenth of a second. */
export function* describeApi(routes: readonly DescribedRoute[], config: Config, release: string): Pieces<ApiDescription> {
  const { path: base, origin = '' } = config.BASE_URL
  const uri = uris(base)
  const documents = makeDocumentSchemas(base, { item: config.MAX_ORDER_ITEMS })
  const problems = makeProblemResponses(base, documents.ref('problem', 'out'))
  const parameters: Record<string, Parameter> = { ...requestFields }
  const keepParameter = (parameter: Parameter): Reference => {
    const same = (one: Parameter | undefined) => one === undefined || JSON.stringify(one) === JSON.stringify(parameter)
    let name = parameter.name
    while (!same(parameters[name])) name += '_'
    parameters[name] = parameter
    return { $ref: `#/components/parameters/${name}` }
  }
  const examples: Record<string, { readonly value: unknown }> = {}
  const keepExample: KeepExample = (name, value) => {
    if (value === undefined) return {}
    examples[name] = { value }
    return { examples: { [name.slice(0, name.lastIndexOf('.'))]: { $ref: `#/components/examples/${name}` } } }
  }
  const writing: Writing = { base, guestOrders: config.GUEST_ORDERS, documents, problems, keepParameter, keepExample }

  const paths: Record<string, PathItem> = {}
  for (const route of routes) {
    if (!isDescribedMethod(route.method)) throw new Error(`${route.method} ${route.path} cannot be described`)
    const path = template(route.path)
    const operation = writeOperation(route, writing)
    const fromPath = parametersOf(route.schema.params, 'path')
    paths[path] = {
      ...(fromPath.length > 0 ? { parameters: fromPath } : {}),
      ...(route.describes.outside && base !== '' ? { servers: [{ url: origin || '/' }] } : {}),
      ...paths[path],
      [methods[route.method]]: operation,
      ...(route.method === 'GET' ? { head: headOf(operation) } : {}),
      options: paths[path]?.options ?? optionsOf(operation, problems)
    }
    yield
  }
  // No operation refers to it: it is the response to any other method.
  problems.refs(['method-not-allowed'])
  const used = new Set(routes.map(tagOf))

  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
    info: { title: config.SHOP_NAME, version: release, summary: 'Products and purchase orders over plain HTTP', description: about },
    servers: [{ url: `${origin}${base}` || '/', description: 'This shop' }],
    tags: Object.entries(tags).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
    paths,
    components: {
      schemas: documents.schemas,
      responses: problems.responses,
      parameters,
      examples,
      headers: headerComponents,
      securitySchemes
    },
    externalDocs: { url: uri.docs, description: 'The documentation for people' }
  }
}
