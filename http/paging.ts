import type { Link } from '../representations/links.ts'
import { Problem } from './problem.ts'
import type { QuerySchema } from './query-schema.ts'

export const pageLimit = { default: 100, max: 1000 }

/** A query schema with the given parameters and the paging parameters. All others are refused. @param limits the values of `limit` */
export function pagedQuery<T>(
  parameters: Readonly<Record<string, unknown>>,
  limits = pageLimit
): QuerySchema<T & { readonly limit: number; readonly after?: string }> {
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: limits.max,
        default: limits.default,
        description: 'The maximum number of items on a page.'
      },
      after: { type: 'string', minLength: 1, maxLength: 1024, description: 'The cursor from the `next` link of the previous page.' },
      ...parameters
    }
  }
}

/** Writes an opaque cursor: a position in a collection, with the sort order that it belongs to. */
export function writeCursor(order: string, position: string): string {
  return Buffer.from(`${order} ${position}`).toString('base64url')
}

export function notACursor(): Problem {
  const detail = 'after is not a cursor of this list. Take it from the next link of a page with the same parameters.'
  return new Problem('malformed-request', detail, { faults: [{ detail, path: 'after' }] })
}

/**
 * Reads the position from a cursor. The store validates the position itself and throws PositionError.
 * @throws Problem `malformed-request` when it is not a cursor of this sort order
 */
export function readCursor(order: string, cursor: string): string {
  const [found, ...rest] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ')
  const position = rest.join(' ')
  // PostgreSQL accepts no NUL in a text.
  if (found !== order || position === '' || position.includes('\0') || writeCursor(order, position) !== cursor) throw notACursor()
  return position
}

type QueryValue = string | number | readonly string[] | undefined

/** The URI of a page of the list, as path and query. A parameter with several values is repeated. */
export function pageUri(path: string, query: Readonly<Record<string, QueryValue>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((one): [string, string] => [name, String(one)])
  )
  const search = new URLSearchParams(given).toString()
  return search === '' ? path : `${path}?${search}`
}

/** A list as a client asked for it. */
export interface AskedList {
  readonly path: string
  /** The sort order that the cursors belong to. */
  readonly sorting: string
  /** The parameters that the pages have in common, other than `limit`. */
  readonly filters?: Readonly<Record<string, QueryValue>>
  readonly limit: number
  /** The limit of a client that gives none. */
  readonly defaultLimit?: number
}

/** The part of a store's query that says where the page begins. @throws Problem `malformed-request` when it is not a cursor of the list */
export function startOfPage(sorting: string, after: string | undefined): { readonly after?: string } {
  return after === undefined ? {} : { after: readCursor(sorting, after) }
}

export function firstLink(list: AskedList): Link {
  return { rel: 'first', href: pageUri(list.path, parametersOf(list)) }
}

/** The link to the next page, if there is one. @param position the position of the last item, when more follow */
export function nextLinks(list: AskedList, position: string | undefined): readonly Link[] {
  if (position === undefined) return []
  return [{ rel: 'next', href: pageUri(list.path, { ...parametersOf(list), after: writeCursor(list.sorting, position) }) }]
}

function parametersOf({ filters, limit, defaultLimit = pageLimit.default }: AskedList): Readonly<Record<string, QueryValue>> {
  return { ...filters, limit: limit === defaultLimit ? undefined : limit }
}
