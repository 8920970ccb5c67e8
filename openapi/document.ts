import type { Config } from '../config.ts'
import type { ApiDescription, Operation, Parameter, PathItem, Reference } from '../representations/api-description.ts'
import { uris } from '../representations/links.ts'
import type { KeepExample } from './bodies.ts'
import { makeDocumentSchemas } from './components.ts'
import { headerComponents, requestFields, responseFields } from './fields.ts'
import { headOf, parametersOf, tagOf, type Writing, writeOperation } from './operation.ts'
import { makeProblemResponses, type ProblemResponses } from './problem-responses.ts'
import type { DescribedRoute } from './rules.ts'

const tags: Readonly<Record<string, string>> = {
  Catalogue: 'Products and their stock: read by everybody, written with the scope `catalogue`.',
  Orders: 'Placing, reading, changing and cancelling purchase orders; the seller sets their status with the scope `fulfilment`.',
  Service: 'Where everything is, and what it means.',
  Operations: 'For whoever runs the service.'
}

const about = `A web shop over plain HTTP: one URI per thing, XML for a machine, HTML for a person, JSON for whoever asks.

- **Representations** are negotiated by \`Accept\`. \`*/*\` or none gives XML to who reads; who sends a document is answered in its own notation, unless \`Accept\` names another with a higher weight. JSON mirrors the XML name for name: \`order-number\` is \`orderNumber\`, what can be there more than once is an array, and numbers are strings, so that no digit is lost; a number that is sent may also be written plainly, without exponent. An element with attributes is an object with its text as \`value\`.
- **Methods**: HEAD is wherever GET is. Any other method is answered 405, with \`Allow\`.
- **Changing something**: GET it, edit what you got, PUT it back with \`If-Match\` and its \`ETag\`. What the server manages is ignored on the way in.
- **Ordering safely**: send an \`Idempotency-Key\` (a guest: of 16 characters or more, a secret), and repeat the request until it is answered.
- **Problems** are RFC 9457 documents; their \`type\` is a URI that explains them. Every error in a document is reported at once.`

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tp_…',
    description: 'An API key of the shop. Its scopes: order, catalogue, fulfilment.'
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The same key as the password, with any user name, for clients that know only Basic.'
  }
} as const

/** Fastify's `/product/:product_id` as OpenAPI writes it. */
const template = (path: string) => path.replace(/:([A-Za-z_]+)/g, '{$1}')

const methods = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const

function isDescribedMethod(method: string): method is keyof typeof methods {
  return Object.hasOwn(methods, method)
}

/** Every path has OPTIONS: plugins/methods answers it. */
function optionsOf(first: Operation, problems: ProblemResponses): Operation {
  const headers = responseFields(['Allow', 'Accept-Post', 'X-Request-Id'])
  return {
    operationId: `${first.operationId}Options`,
    summary: 'The methods that there are here',
    tags: first.tags,
    security: [{}],
    responses: {
      204: { description: 'Allow lists the methods, Accept-Post what POST reads.', ...headers },
      ...problems.refs(['unauthenticated', 'too-many-requests'])
    }
  }
}

/** One OpenAPI 3.1 document of all routes that describe themselves. */
export function describeApi(routes: readonly DescribedRoute[], config: Config, release: string): ApiDescription {
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
  }
  // Not an operation's own: any other method at any path.
  problems.refs(['method-not-allowed'])
  const used = new Set(routes.map(tagOf))

  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
    info: { title: config.SHOP_NAME, version: release, summary: 'Products and purchase orders over plain HTTP', description: about },
    servers: [{ url: `${origin}${base}` || '/', description: 'Here' }],
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
    externalDocs: { url: uri.docs, description: 'The same, for people' }
  }
}
