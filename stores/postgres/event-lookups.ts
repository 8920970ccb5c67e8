/** The look-ups in the indexes of the outbox that together find what an audience hears. */

import type { Audience } from '../../domain/event.ts'
import { lookupsOf } from '../event-rows.ts'

/** The values of `$1` and `$2` in a query that has `positionsHeard` or `newestHeard`. */
export function lookupValues(audience: Audience): [types: string[], customers: (string | null)[]] {
  const lookups = lookupsOf(audience)
  return [lookups.map(({ type }) => type), lookups.map(({ customer }) => customer)]
}

/** A query of the positions that each look-up finds. @param rest what each look-up has after its condition: an order and a limit */
export function positionsHeard(rest: string): string {
  return `SELECT found.position FROM unnest($1::text[], $2::text[]) AS w (type, customer), LATERAL (
      (SELECT position FROM event WHERE w.customer IS NULL AND type = w.type ${rest})
      UNION ALL
      (SELECT position FROM event WHERE customer = w.customer AND type = w.type ${rest})
    ) AS found`
}

/** A query of the position of the newest event that an audience hears. */
export const newestHeard = `SELECT max(position) FROM (${positionsHeard('ORDER BY position DESC LIMIT 1')}) AS heard`
