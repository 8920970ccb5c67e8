import type { Connection } from './connection.ts'
import type { Writes } from './writes.ts'

/** Deletes old events. The newest event stays, so that its position is not given again. */
export function makeEventPruning(db: Connection): Writes<'pruneEvents'> {
  const prune = db.prepare<[{ readonly before: number; readonly most: number }]>(
    `DELETE FROM event WHERE position IN (
      SELECT position FROM (SELECT position, at FROM event ORDER BY position LIMIT @most)
        WHERE at < @before AND position < (SELECT max(position) FROM event))`
  )
  return {
    pruneEvents: (before, most) => prune.run({ before, most }).changes
  }
}
