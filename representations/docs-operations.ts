import type { ApiDescription, Operation, OperationMethod, Parameter, PathItem, Reference, Response } from './api-description.ts'

export interface AnswerRow {
  readonly status: string
  readonly text?: string
  /** The problem types that the status can have. */
  readonly problems: readonly string[]
}

export type ParameterView = Parameter & { readonly values: string }

/** The part of an operation that the page shows. */
export interface OperationView {
  readonly id: string
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly notes: string | undefined
  readonly access: string
  /** Parameters of the path and of the query. */
  readonly parameters: readonly ParameterView[]
  /** The names of the header fields that have an effect. */
  readonly fields: readonly string[]
  readonly reads: readonly string[]
  /** The JSON schemas of the documents that it reads as XML. */
  readonly documents: readonly string[]
  readonly sends: readonly string[]
  /** An example command. A plain GET has none, because its method and path say the same. */
  readonly curl: string | undefined
  readonly answers: readonly AnswerRow[]
}

/** HEAD and OPTIONS exist for every resource, so the page describes them once instead of for each operation. */
const shownMethods = ['get', 'post', 'put', 'delete'] as const satisfies readonly OperationMethod[]

const lastSegment = ($ref: string) => $ref.slice($ref.lastIndexOf('/') + 1)

function isOpen({ security }: Operation): boolean {
  return security.some((requirement) => Object.keys(requirement).length === 0)
}

function accessText(operation: Operation): string {
  const scopes = [...new Set(operation.security.flatMap((requirement) => Object.values(requirement).flat()))].join(' or ')
  if (scopes === '') return 'Anyone.'
  return isOpen(operation) ? `Anyone without a key, or a key with the scope ${scopes}.` : `A key with the scope ${scopes}.`
}

/** The allowed values of a parameter, in a few words. */
function valuesOf({ schema }: Parameter): string {
  const {
    type,
    enum: values,
    minimum,
    maximum,
    default: fallback,
    maxLength
  } = schema as Readonly<Record<string, string | number | readonly string[] | undefined>>
  const parts = [
    Array.isArray(values) && values.join(', '),
    type === 'integer' && `${minimum} to ${maximum}`,
    maxLength !== undefined && `up to ${maxLength} characters`,
    fallback !== undefined && `default ${fallback}`
  ]
  return parts.filter((part) => typeof part === 'string').join('; ')
}

export function parameterView(parameter: Parameter): ParameterView {
  return { ...parameter, values: valuesOf(parameter) }
}

function examplePath(path: string, parameters: readonly Parameter[]): string {
  const example = ({ name, schema }: Parameter) => String((schema['examples'] as readonly unknown[] | undefined)?.[0] ?? name)
  return parameters.reduce((done, parameter) => done.replace(`{${parameter.name}}`, example(parameter)), path)
}

function curl(method: string, path: string, operation: Operation, parameters: readonly Parameter[]): string | undefined {
  const content = operation.requestBody?.content ?? {}
  const example = Object.keys(content['application/xml']?.examples ?? {})[0]
  const has = (field: string) => parameters.some(({ name }) => name === field)
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$SHOP${examplePath(path, parameters)}"`,
    !isOpen(operation) && '-H "Authorization: Bearer $KEY"',
    has('If-Match') && method === 'PUT' && `-H 'If-Match: "…"'`,
    has('Idempotency-Key') && '-H "Idempotency-Key: $(uuidgen)"',
    example && `-H 'Content-Type: application/xml'`,
    example && `--data-binary @${example.replace(/-input$/, '')}.xml`
  ]
  const given = parts.filter((part) => typeof part === 'string')
  return given.length === 1 && method === 'GET' ? undefined : given.join(' \\\n  ')
}

interface DocumentRefs extends Partial<Reference> {
  readonly anyOf?: readonly Reference[]
}

/** An operation that reads one of several documents has them in `anyOf`. */
function documentsOf({ requestBody }: Operation): readonly string[] {
  const schema: DocumentRefs = requestBody?.content['application/xml']?.schema ?? {}
  return [schema, ...(schema.anyOf ?? [])].flatMap(({ $ref }) => ($ref === undefined ? [] : [lastSegment($ref)]))
}

function answerRow(status: string, response: Response | Reference): AnswerRow {
  if (!('$ref' in response)) return { status, text: response.description, problems: [] }
  // The name of a problem response consists of its problem types.
  return { status, problems: lastSegment(response.$ref).split('.') }
}

function view(method: string, path: string, item: PathItem, operation: Operation, { components }: ApiDescription): OperationView {
  const own = (operation.parameters ?? []).flatMap(({ $ref }) => components.parameters[lastSegment($ref)] ?? [])
  const parameters = [...(item.parameters ?? []), ...own]
  const success = Object.values(operation.responses).find((response): response is Response => !('$ref' in response))
  return {
    id: operation.operationId,
    tag: operation.tags[0] ?? '',
    method,
    path,
    summary: operation.summary,
    notes: operation.description,
    access: accessText(operation),
    parameters: parameters.filter((parameter) => parameter.in !== 'header').map(parameterView),
    fields: parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name),
    reads: Object.keys(operation.requestBody?.content ?? {}),
    documents: documentsOf(operation),
    sends: Object.keys(success?.content ?? {}),
    curl: curl(method, path, operation, parameters),
    answers: Object.entries(operation.responses).map(([status, response]) => answerRow(status, response))
  }
}

/** All operations that the pages show, in the order of the paths. */
export function operationViews(description: ApiDescription): readonly OperationView[] {
  return Object.entries(description.paths).flatMap(([path, item]) =>
    shownMethods.flatMap((method) => (item[method] ? [view(method.toUpperCase(), path, item, item[method], description)] : []))
  )
}
