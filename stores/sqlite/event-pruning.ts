import type { Connection } from './connection.ts'
import type { Writes } from './write-verbs.ts'

/**
 * Deletes old events, and all events before them. If the clock was set back, times are not in order, and an event that stays
 * between deleted ones would be a cursor that misses some. The newest event stays, so that its position is not given again.
 */
export function makeEventPruning(db: Connection): Writes<'pruneEvents'> {
  const prune = db.prepare<[{ readonly before: number; readonly most: number }]>(
    `DELETE FROM event WHERE position <= (SELECT max(position) FROM (SELECT position, at FROM event ORDER BY position LIMIT @most) WHERE at < @before)
      AND position < (SELECT max(position) FROM event)`
  )
  return {
    pruneEvents: (before, most) => prune.run({ before, most }).changes
  }
}
