export interface PageQuery {
  readonly limit: number
  /** `Page.next` of the page before. The store may throw PositionError for any other value. */
  readonly after?: string
}

export interface Page<T> {
  readonly items: readonly T[]
  /** The position of the last item, when more follow. Keyset: inserts and deletes between pages shift nothing. */
  readonly next?: string
}
