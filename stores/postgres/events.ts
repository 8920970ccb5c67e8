import { PositionError } from '../../domain/errors.ts'
import { mostPruned } from '../../domain/event.ts'
import type { Store } from '../../domain/store.ts'
import { isEventId } from '../event-ids.ts'
import { type EventOrderRow, eventsOf, type HeadRow, headColumns, headOf } from '../event-rows.ts'
import type { Database } from './database.ts'
import { joinEvent, lookupValues, newestPosition, positionsHeard } from './event-lookups.ts'

/** The verbs that read the outbox, and the one that deletes old events. */
export function makeEvents(database: Database): Pick<Store, 'eventHeads' | 'events' | 'lastEvent' | 'pruneEvents'> {
  /** Also tells whether the event is the newest, because most polls find nothing new. */
  async function startOf(after: string | undefined): Promise<{ readonly start: number; readonly isNewest: boolean }> {
    if (after === undefined) return { start: 0, isNewest: false }
    const sql = 'SELECT position, position = (SELECT max(position) FROM event) AS newest FROM event WHERE id = $1'
    const [row] = isEventId(after) ? await database.prepared<{ position: number; newest: boolean }>(sql, [after]) : []
    if (!row) throw new PositionError('no event that is kept')
    return { start: row.position, isNewest: row.newest }
  }

  return {
    async eventHeads({ audience, limit, after }) {
      const { start, isNewest } = await startOf(after)
      const [types, customers] = lookupValues(audience)
      if (isNewest || types.length === 0) return []
      const rows = await database.query<HeadRow>(
        `SELECT ${headColumns} FROM (${positionsHeard}) AS heard ${joinEvent('heard.position')} ORDER BY heard.position`,
        [types, customers, start, limit]
      )
      // Events are deleted from the oldest on. As long as this one is kept, none after it was deleted before the page was read.
      await startOf(after)
      return rows.map(headOf)
    },
    async events(heads) {
      if (heads.length === 0) return []
      const rows = await database.query<EventOrderRow>(
        `SELECT e.position, e.status, o.placed_at, coalesce(e.content, o.content) AS content
          FROM event e LEFT JOIN purchase_order o ON o.id = CASE WHEN e.status IS NOT NULL THEN e.subject::uuid END
          WHERE e.position = ANY($1::bigint[])`,
        [heads.map(({ position }) => position)]
      )
      const found = new Map(rows.map((row) => [row.position, row]))
      return eventsOf(heads, ({ position }) => found.get(position))
    },
    async lastEvent(audience) {
      const newest = audience === undefined ? 'SELECT max(position) FROM event' : newestPosition
      const values = audience === undefined ? [] : lookupValues(audience)
      const [row] = await database.query<HeadRow>(`SELECT ${headColumns} FROM event e WHERE e.position = (${newest})`, values)
      return row && headOf(row)
    },
    async pruneEvents(before, most) {
      // All events before an old one are deleted with it, as on SQLite. A row into which another transaction is copying a content is
      // left for the next time, and so are all rows after it.
      const rows = await database.write<{ position: number }>(
        `WITH oldest AS (
            SELECT position, at FROM (
              SELECT position, at, sum(weight) OVER (ORDER BY position) - weight AS heaped
                FROM (SELECT position, at, weight FROM event ORDER BY position LIMIT $2) AS first) AS weighed
              WHERE heaped < ${mostPruned}),
          due AS (SELECT position FROM oldest
            WHERE position <= (SELECT max(position) FROM oldest WHERE at < $1) AND position < (SELECT last FROM event_head)),
          free AS (SELECT e.position FROM due JOIN event e USING (position) FOR UPDATE OF e SKIP LOCKED)
          DELETE FROM event WHERE position = ANY (ARRAY(
            SELECT position FROM free WHERE position < ALL (SELECT position FROM due EXCEPT SELECT position FROM free))) RETURNING position`,
        [before, most]
      )
      return rows.length
    }
  }
}
