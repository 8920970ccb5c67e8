/** The JSON Schema of a query or of path parameters. `T` is the type of the values that it accepts. */
export interface QuerySchema<T> {
  readonly static?: T
  readonly [keyword: string]: unknown
}
