import { Problem } from './problem.ts'
import type { QuerySchema } from './query-schema.ts'

export const pageLimit = { default: 100, max: 1000 }

/** A query schema of the given parameters, and of those of paging; any other is refused. */
export function pagedQuery<T>(
  parameters: Readonly<Record<string, unknown>>
): QuerySchema<T & { readonly limit: number; readonly after?: string }> {
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: pageLimit.max,
        default: pageLimit.default,
        description: 'The most items that a page has.'
      },
      after: { type: 'string', minLength: 1, maxLength: 1024, description: 'Where the page before ended: the cursor of its `next` link.' },
      ...parameters
    }
  }
}

/** An opaque cursor: a position in a collection, with the order that it is a position of. */
export function writeCursor(order: string, position: string): string {
  return Buffer.from(`${order} ${position}`).toString('base64url')
}

export function notACursor(): Problem {
  const detail = 'after is not a cursor of this list: take it from the next link of a page with the same parameters.'
  return new Problem('malformed-request', detail, { faults: [{ detail, path: 'after' }] })
}

/**
 * What is not even of the kind of position that the store gives is the store's to refuse, by PositionError.
 * @throws Problem `malformed-request` when it is not a cursor of this order of the collection
 */
export function readCursor(order: string, cursor: string): string {
  const [found, ...rest] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ')
  const position = rest.join(' ')
  // A NUL is nothing that a store could look for.
  if (found !== order || position === '' || position.includes('\0') || writeCursor(order, position) !== cursor) throw notACursor()
  return position
}

/** The path and query of another page of the same list. */
export function pageUri(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return search === '' ? path : `${path}?${search}`
}
