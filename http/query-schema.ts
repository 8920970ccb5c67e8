/** The JSON Schema of a query or of path parameters, with the type of what it lets through. */
export interface QuerySchema<T> {
  readonly static?: T
  readonly [keyword: string]: unknown
}
