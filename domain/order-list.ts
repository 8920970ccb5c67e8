/** Decides how a list of orders is read: which rows a page looks at, in which order, and where the next page begins. */

import { LargeRead, PositionError } from './errors.ts'
import type { OrderStatus } from './order.ts'
import type { Page } from './page.ts'
import type { OrderQuery } from './store.ts'

/** The filters that an index answers. Each combination that `orderList` makes has an index, which ends with the time and the row number. */
export interface IndexedFilters {
  readonly customer?: string | undefined
  readonly status?: OrderStatus | undefined
  readonly orderNumber?: string | undefined
}

/** The filters that are checked on each row that the index gives. */
export interface RowFilters {
  readonly status?: OrderStatus | undefined
  readonly placedSince?: number | undefined
  readonly modifiedSince?: number | undefined
}

export interface OrderList {
  /** The time that the orders are sorted by. Orders of the same time are sorted as they were placed. */
  readonly by: 'placed' | 'modified'
  readonly direction: 'newest' | 'oldest'
  readonly indexed: IndexedFilters
  readonly checked: RowFilters
  /** The earliest time of the list, in milliseconds since the epoch. */
  readonly since: number
  readonly limit: number
  /** The most rows that a page looks at. */
  readonly mostRows: number
}

/** A page whose filters have no index of their own looks at this many rows, and may have fewer orders than its limit. */
export const mostLookedAt = 1_000

/**
 * Each index makes placing an order slower. Therefore a list by the time of modification checks the status row by row, since most such
 * lists are of a short time. A list by order number has few orders, and is always sorted by the time of placing. An order is never
 * modified before it is placed, so the later of both times bounds a list by the time of modification.
 */
export function orderList(query: Omit<OrderQuery, 'after'>): OrderList {
  const { limit, customer, status, orderNumber, placedSince, modifiedSince, order = 'newest' } = query
  const isNumbered = orderNumber !== undefined
  const by = modifiedSince === undefined || isNumbered ? 'placed' : 'modified'
  const isByStatus = by === 'placed' && !isNumbered
  const indexed = { customer, ...(isNumbered ? { orderNumber } : {}), ...(isByStatus ? { status } : {}) }
  const checked = {
    ...(isByStatus ? {} : { status }),
    ...(isNumbered ? { modifiedSince } : {}),
    ...(by === 'modified' ? { placedSince } : {})
  }
  const since = by === 'placed' ? (placedSince ?? 0) : Math.max(modifiedSince ?? 0, placedSince ?? 0)
  const isChecked = Object.values(checked).some((value) => value !== undefined)
  return { by, direction: order, indexed, checked, since, limit, mostRows: isChecked ? Math.max(limit + 1, mostLookedAt) : limit + 1 }
}

/** A place in a list: a time of `OrderList.by`, and a row number. Row numbers begin at 1. */
export interface Place {
  readonly time: number
  readonly seq: number
}

/** The places between which a page is; neither belongs to it. */
export interface Range {
  readonly above: Place
  readonly below: Place
}

/** @param after the place of the last order of the page before */
export function rangeOf({ since, direction }: Pick<OrderList, 'since' | 'direction'>, after?: Place): Range {
  const [above, below] = [
    { time: since, seq: 0 },
    { time: Number.MAX_SAFE_INTEGER, seq: 0 }
  ]
  if (!after) return { above, below }
  if (direction === 'newest') return { above, below: after }
  return { above: after.time < since ? above : after, below }
}

/** The columns of an order that decide its place in a list. */
export interface ListedRow {
  readonly id: string
  readonly status: OrderStatus
  readonly placed_at: number
  readonly modified_at: number
}

/** Whether a row passes the filters that the index does not answer. */
function isListed({ status, placed_at, modified_at }: ListedRow, { checked }: Pick<OrderList, 'checked'>): boolean {
  return (
    (checked.status === undefined || checked.status === status) &&
    placed_at >= (checked.placedSince ?? 0) &&
    modified_at >= (checked.modifiedSince ?? 0)
  )
}

/**
 * A position names an order by its id, which reveals no count. In a list by modification it has the time as well, because the
 * order may be modified again before the next page is read.
 */
function positionOf({ id, modified_at }: ListedRow, { by }: Pick<OrderList, 'by'>): string {
  return by === 'placed' ? id : `${modified_at} ${id}`
}

/** The order that a position names and, in a list by modification, the time of modification in it. @throws PositionError */
export function readPosition(position: string, { by }: Pick<OrderList, 'by'>): { readonly id: string; readonly modifiedAt?: number } {
  if (by === 'placed') return { id: position }
  const [, at, id] = /^(\d{1,15}) (.+)$/s.exec(position) ?? []
  if (at === undefined || id === undefined) throw new PositionError('not a position of orders by modification')
  return { id, modifiedAt: Number(at) }
}

/**
 * The page that the rows make. It has a next page when rows are left, and when the list may go on after `mostRows` rows.
 * @param rows up to `list.mostRows`, in the order of the list
 * @param read gives the item of a row; undefined where the page ends before the row
 */
export function orderPage<Row extends ListedRow, T>(rows: readonly Row[], list: OrderList, read: (row: Row) => T | undefined): Page<T> {
  const items: T[] = []
  let last: Row | undefined
  for (const row of rows) {
    if (isListed(row, list)) {
      const item = items.length === list.limit ? undefined : read(row)
      if (item === undefined) return last ? { items, next: positionOf(last, list) } : { items }
      items.push(item)
    }
    last = row
  }
  return last && rows.length >= list.mostRows ? { items, next: positionOf(last, list) } : { items }
}

/** The most bytes of content on a page of whole orders. A larger order has a page of its own. */
export const mostContent = 512 * 1024

/**
 * The rows of a page of whole orders, which ends early when their content reaches `mostContent`.
 * @param rows up to `list.mostRows`, in the order of the list, with the bytes of their content
 * @param most the most bytes of content that may be read
 * @throws LargeRead if the page has more
 */
export function wholeOrderPage<Row extends ListedRow & { readonly size: number }>(
  rows: readonly Row[],
  list: OrderList,
  most = Number.POSITIVE_INFINITY
): Page<Row> {
  let size = 0
  const page = orderPage(rows, list, (row) => {
    if (size > 0 && size + row.size > mostContent) return undefined
    size += row.size
    return row
  })
  if (size > most) throw new LargeRead(size)
  return page
}
