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
