import { createHash } from 'node:crypto'
import { type Documentation, docsGroupPage, docsPage, type GroupDocumentation } from './docs-page.ts'
import type { Representations } from './representation.ts'
import { renderPage } from './views.ts'

export interface Reference {
  readonly $ref: string
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Readonly<Record<string, unknown>>
}

export interface MediaType {
  readonly schema: Readonly<Record<string, unknown>>
  readonly examples?: Readonly<Record<string, Reference>>
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Reference | object>>
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Reference[]
  readonly requestBody?: {
    readonly description?: string
    readonly required: boolean
    readonly content: Readonly<Record<string, MediaType>>
  }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

export const operationMethods = ['get', 'head', 'post', 'put', 'delete', 'options'] as const
export type OperationMethod = (typeof operationMethods)[number]

export type PathItem = { readonly [M in OperationMethod]?: Operation } & {
  readonly parameters?: readonly Parameter[]
  readonly servers?: readonly { readonly url: string }[]
}

/** The parts of an OpenAPI 3.1 document that this service writes. */
export interface ApiDescription {
  readonly openapi: string
  readonly jsonSchemaDialect: string
  readonly info: { readonly title: string; readonly version: string; readonly summary: string; readonly description: string }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, Response>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly headers: Readonly<Record<string, object>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
    readonly securitySchemes: Readonly<Record<string, object>>
  }
  readonly externalDocs: { readonly url: string; readonly description: string }
}

const digests = new WeakMap<ApiDescription, string>()

/** The description changes only with the release and the settings, so a digest of it serves as its version. */
function digestOf(description: ApiDescription): string {
  const digest = digests.get(description) ?? createHash('sha256').update(JSON.stringify(description)).digest('hex').slice(0, 16)
  digests.set(description, digest)
  return digest
}

/** The API description for machines. */
export const openApiRepresentations: Representations<ApiDescription> = {
  variants: [
    {
      mediaType: 'application/json',
      contentType: 'application/json; charset=utf-8',
      suffix: 'json',
      write: (description) => `${JSON.stringify(description)}\n`
    }
  ],
  validators: (description) => ({ version: digestOf(description) })
}

/** The API description for people. */
export const docsRepresentations: Representations<Documentation> = {
  variants: [
    {
      mediaType: 'text/html',
      contentType: 'text/html; charset=utf-8',
      suffix: 'html',
      write: (documentation, context) => renderPage('docs', 'For developers', docsPage(documentation, context.base), context)
    }
  ],
  validators: ({ description }) => ({ version: digestOf(description) })
}

/** The operations of one tag, for people. */
export const docsGroupRepresentations: Representations<GroupDocumentation> = {
  variants: [
    {
      mediaType: 'text/html',
      contentType: 'text/html; charset=utf-8',
      suffix: 'html',
      write: (documentation, context) =>
        renderPage('docs-group', `For developers: ${documentation.tag}`, docsGroupPage(documentation, context.base), context)
    }
  ],
  validators: ({ description }) => ({ version: digestOf(description) })
}
