import { makeApplyWrite, makeCatalogueWrites } from './catalogue-writes.ts'
import type { Connection } from './connection.ts'
import { makeEventLog } from './event-log.ts'
import { makeEventPruning } from './event-pruning.ts'
import { makeImportWrites } from './import-writes.ts'
import { makeKeyWrites } from './key-writes.ts'
import { makeOrderWrites } from './order-writes.ts'
import type { TextIndex } from './search.ts'
import { makeWebhookWrites } from './webhook-writes.ts'
import type { Writes } from './write-verbs.ts'

export function makeWrites(db: Connection, currency: string, index: TextIndex): Writes {
  // Writes as much as a large order and deletes it: a full disk may still have room for a small row.
  const fill = db.prepare(
    "INSERT INTO idempotency (scope, key, fingerprint, kept_at, snapshot) VALUES ('', '', '', 0, hex(zeroblob(8192)))"
  )
  const clear = db.prepare("DELETE FROM idempotency WHERE scope = '' AND key = ''")
  const events = makeEventLog(db)
  const apply = makeApplyWrite(db, currency, index, events)
  return {
    ...makeCatalogueWrites(apply),
    ...makeImportWrites(db, apply, index),
    ...makeOrderWrites(db, currency, events),
    ...makeEventPruning(db),
    ...makeKeyWrites(db),
    ...makeWebhookWrites(db, events),
    ping() {
      fill.run()
      clear.run()
    }
  }
}
