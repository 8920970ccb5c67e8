import { PositionError } from '../domain/errors.ts'
import type { Page } from '../domain/page.ts'

/** Parses a row number from `Page.next`. @throws PositionError if it is not one */
export function position(after: string): number {
  if (!/^\d{1,15}$/.test(after)) throw new PositionError(`not a position: ${JSON.stringify(after)}`)
  return Number(after)
}

/** @param rows up to `limit + 1` rows. The extra row means that there is a next page. */
export function toPage<Row, T>(rows: readonly Row[], limit: number, read: (row: Row) => T, at: (row: Row) => string): Page<T> {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { items: rows.slice(0, limit).map(read), ...(last === undefined ? {} : { next: at(last) }) }
}
