import { mostPruned } from '../../domain/event.ts'
import { makeApplyWrite, makeCatalogueWrites } from './catalogue-writes.ts'
import type { Connection } from './connection.ts'
import type { EventLog } from './event-log.ts'
import { makeImportWrites } from './import-writes.ts'
import { makeKeyWrites } from './key-writes.ts'
import { makeOrderWrites } from './order-writes.ts'
import type { TextIndex } from './search.ts'
import { makeWebhookWrites } from './webhook-writes.ts'
import type { Writes } from './write-verbs.ts'

export function makeWrites(db: Connection, currency: string, index: TextIndex, events: EventLog): Writes {
  // Writes a row of several pages and deletes it: a full disk may still have room for a small row.
  const fill = db.prepare(
    "INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot) VALUES ('', '', '', 0, hex(zeroblob(8192)))"
  )
  const clear = db.prepare("DELETE FROM idempotency WHERE scope = '' AND key = ''")
  // If the clock was set back, times are not in order. An event that stayed between deleted ones would be a cursor that misses events.
  // So all events before an old one are deleted with it. The newest event stays, so that its position is not given again.
  const prune = db.prepare<[{ readonly before: number; readonly most: number }]>(
    `DELETE FROM event WHERE position < (SELECT max(position) FROM event) AND position <= (
      SELECT max(position) FROM (
        SELECT position, at, sum(weight) OVER (ORDER BY position) - weight AS heaped
          FROM (SELECT position, at, weight FROM event ORDER BY position LIMIT @most))
        WHERE at < @before AND heaped < ${mostPruned})`
  )
  const apply = makeApplyWrite(db, currency, index, events)
  return {
    ...makeCatalogueWrites(apply),
    ...makeImportWrites(db, apply, index),
    ...makeOrderWrites(db, currency, events),
    ...makeKeyWrites(db),
    ...makeWebhookWrites(db, events),
    pruneEvents: (before, most) => prune.run({ before, most }).changes,
    ping() {
      fill.run()
      clear.run()
    }
  }
}
