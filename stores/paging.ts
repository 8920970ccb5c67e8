import { PositionError } from '../domain/errors.ts'
import type { Page } from '../domain/store.ts'

/** Bytes of the orders of one page, as they are kept: a page of longer ones has fewer, but never none. */
export const pageBytes = 8 * 1024 * 1024

/** A row's number, as a page's `next` gave it. @throws PositionError when it is none */
export function position(after: string): number {
  if (!/^\d{1,15}$/.test(after)) throw new PositionError(`not a position: ${JSON.stringify(after)}`)
  return Number(after)
}

/** @param rows one more than the page holds, when there is more */
export function toPage<Row, T>(rows: readonly Row[], limit: number, read: (row: Row) => T, at: (row: Row) => string): Page<T> {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { items: rows.slice(0, limit).map(read), ...(last === undefined ? {} : { next: at(last) }) }
}

/**
 * A page that goes on behind its last row's id, which unlike the row's number tells nobody how many there are.
 * @param rows those that the page has room for, each with the number of the row that follows it in the list
 */
export function toCutPage<Row extends { readonly id: string; readonly follows: number | null }, T>(
  rows: readonly Row[],
  read: (row: Row) => T
): Page<T> {
  const last = rows.at(-1)
  return { items: rows.map(read), ...(last && last.follows !== null ? { next: last.id } : {}) }
}
