/** The JSON Schema of a query or of path parameters. `T` is the type of the values that it accepts. */
export interface QuerySchema<T> {
  readonly static?: T
  readonly [keyword: string]: unknown
}

/** The query of a resource without parameters. A client that filters, for example, must not take everything for what it asked for. */
export const noParameters: QuerySchema<Readonly<Record<string, never>>> = { type: 'object', additionalProperties: false, properties: {} }
