import type { ProblemCode } from '../http/problem-codes.ts'
import type { Operation, Parameter, Reference, Response } from '../representations/api-description.ts'
import { isDocumentSchema } from '../schemas/document.ts'
import { answerContent, formBody, type KeepExample, plainContent, requestContent } from './bodies.ts'
import type { DocumentSchemas } from './components.ts'
import { responseFields } from './fields.ts'
import type { ProblemResponses } from './problem-responses.ts'
import {
  type DescribedRoute,
  hasContent,
  hasValidators,
  honoursPrefer,
  isGet,
  isPageForm,
  problemsOf,
  requestFieldsOf,
  responseFieldsOf,
  securityOf,
  takesFormsOnly
} from './rules.ts'
import type { JsonSchema } from './texts.ts'

export interface Writing {
  readonly base: string
  readonly guestOrders: boolean
  readonly documents: DocumentSchemas
  readonly problems: ProblemResponses
  /** Adds a query parameter to the components. @returns a reference to it */
  readonly keepParameter: (parameter: Parameter) => Reference
  readonly keepExample: KeepExample
}

interface ParametersSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

/** Converts the JSON Schema of a query or path to parameters. */
export function parametersOf(schema: unknown, place: 'path' | 'query'): readonly Parameter[] {
  const { properties = {}, required = [] } = (schema ?? {}) as ParametersSchema
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...(typeof description === 'string' ? { description } : {}),
    schema: rest
  }))
}

/** The tag of a route, by its path. */
export function tagOf({ path, describes }: DescribedRoute): string {
  if (describes.outside) return 'Operations'
  if (/^\/(?:product|catalogue)/.test(path)) return 'Catalogue'
  if (/^\/(?:events|webhook)/.test(path)) return 'Events'
  return /^\/order/.test(path) ? 'Orders' : 'Service'
}

function successes(route: DescribedRoute, { base, documents, keepExample }: Writing): readonly [string, Response][] {
  const { config, describes } = route
  const represents = isPageForm(route) ? undefined : config.represents
  const content = represents
    ? answerContent(represents, documents, base, keepExample)
    : plainContent(describes.sends ?? (config.form ? ['text/html'] : []))
  const answers = {
    ...describes.answers,
    ...(honoursPrefer(route) && '200' in describes.answers ? { 204: 'Done, without a representation (`Prefer: return=minimal`).' } : {})
  }
  return Object.entries(answers).map(([status, description]) => {
    const { headers } = responseFields(responseFieldsOf(route, Number(status)))
    const own = describes.checks && status === '200' ? checkedToo(content, represents?.schema ?? '', documents) : content
    return [status, { description, headers, ...(hasContent(Number(status)) && Object.keys(own).length > 0 ? { content: own } : {}) }]
  })
}

/** The content of a response about the stored resource, or about one that was only checked and not stored. */
function checkedToo(content: NonNullable<Response['content']>, root: string, documents: DocumentSchemas): NonNullable<Response['content']> {
  return Object.fromEntries(
    Object.entries(content).map(([mediaType, one]) => {
      const { schema } = one
      return [mediaType, schema && '$ref' in schema ? { ...one, schema: { anyOf: [schema, documents.checkedRef(root)] } } : one]
    })
  )
}

/** Problems that any request can get. */
const commonProblems: readonly ProblemCode[] = [
  'request-timeout',
  'expectation-failed',
  'headers-too-large',
  'not-implemented',
  'version-not-supported'
]

export function writeOperation(route: DescribedRoute, writing: Writing): Operation {
  const { schema, describes } = route
  const codes = problemsOf(route)
  const parameters = [
    ...parametersOf(schema.querystring, 'query').map(writing.keepParameter),
    ...requestFieldsOf(route).map((name) => ({ $ref: `#/components/parameters/${name}` }))
  ]
  const notModified: [string, Response][] =
    isGet(route) && hasValidators(route)
      ? [['304', { description: 'Not modified: your cached representation is current.', ...responseFields(responseFieldsOf(route, 304)) }]]
      : []
  const own = successes(route, writing)
  const problems = Object.entries(writing.problems.refs(codes)).filter(([status]) => !own.some(([taken]) => taken === status))
  return {
    operationId: describes.id,
    summary: describes.summary,
    ...(describes.notes === undefined ? {} : { description: describes.notes }),
    tags: [tagOf(route)],
    security: securityOf(route, writing.guestOrders),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(takesFormsOnly(route) ? { requestBody: formBody(describes.reads) } : {}),
    ...(isDocumentSchema(schema.body)
      ? { requestBody: { required: true, content: requestContent(schema.body, writing.documents, writing.keepExample) } }
      : {}),
    responses: { ...Object.fromEntries([...own, ...notModified, ...problems]), default: writing.problems.any(commonProblems) }
  }
}

/** HEAD is GET without the body (RFC 9110 section 9.3.2). */
export function headOf(get: Operation): Operation {
  const responses = Object.entries(get.responses).map(([status, response]) => {
    if ('$ref' in response) return [status, response]
    const { content: _, ...rest } = response
    return [status, rest]
  })
  return {
    ...get,
    operationId: `${get.operationId}Head`,
    summary: `${get.summary}: headers only`,
    responses: Object.fromEntries(responses)
  }
}
