/** The look-ups in the indexes of the outbox that together find what an audience hears. */

import type { Audience } from '../../domain/event.ts'
import { lookupsOf } from '../event-rows.ts'
import { firstOf, firstRowsOf, highest, type IndexRange } from './index-range.ts'

/** SQL of a type, and of a customer if only the events of that customer are heard. */
interface Heard {
  readonly type: string
  readonly customer?: string
}

function rangeOf({ type, customer }: Heard, direction: IndexRange['direction'], position: string): IndexRange {
  const values = { ...(customer === undefined ? {} : { customer }), type }
  const within = Object.entries(values).map(([column, value]) => `${column} = ${value}`)
  return {
    table: 'event',
    key: [...Object.keys(values), 'position'],
    direction,
    start: [...Object.values(values), position],
    within: within.join(' AND ')
  }
}

/** A query of the position of the first event after a position. @param position SQL */
export function nextHeard(heard: Heard, position: string): string {
  return firstOf(rangeOf(heard, 'ASC', position), 'position')
}

/** A query of the position of the newest event. */
export function newestHeard(heard: Heard): string {
  return firstOf(rangeOf(heard, 'DESC', highest), 'position')
}

const ofType: Heard = { type: 'w.type' }
const ofCustomer: Heard = { customer: 'w.customer', type: 'w.type' }

/** The values of `$1` and `$2` in `positionsHeard` and `newestPosition`. */
export function lookupValues(audience: Audience): [types: string[], customers: (string | null)[]] {
  const lookups = lookupsOf(audience)
  return [lookups.map(({ type }) => type), lookups.map(({ customer }) => customer)]
}

/** The positions that all look-ups find. The first query is for those without a customer. The second finds nothing for them, since NULL equals nothing. */
function found(ofTypes: string, ofCustomers: string): string {
  return `unnest($1::text[], $2::text[]) AS w (type, customer), LATERAL (
      SELECT position FROM (${ofTypes}) AS e WHERE w.customer IS NULL UNION ALL (${ofCustomers})) AS found`
}

/** Joins the event at a position, as `e`. The limit makes it one look-up for each row. Without it, the planner may read all events. */
export function joinEvent(position: string): string {
  return `CROSS JOIN LATERAL (SELECT * FROM event WHERE event.position = ${position} LIMIT 1) AS e`
}

const rowsAfter = (heard: Heard) => `SELECT position FROM (${firstRowsOf(rangeOf(heard, 'ASC', '$3::bigint'), '$4::bigint')}) AS rows`

/** A query of the first `$4` positions after `$3` that an audience hears. */
export const positionsHeard = `SELECT found.position FROM ${found(rowsAfter(ofType), rowsAfter(ofCustomer))} ORDER BY found.position LIMIT $4`

/** A query of the position of the newest event that an audience hears. */
export const newestPosition = `SELECT max(found.position) FROM ${found(newestHeard(ofType), newestHeard(ofCustomer))}`
