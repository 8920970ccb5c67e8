/** The entry of the writer thread. It answers a batch only after its commit. */

import { packOutcomes, unpackCommand } from '../crossing.ts'
import type { CommandOutcome } from '../outcomes.ts'
import { serve } from '../thread-entry.ts'
import { makeBatch } from './batch.ts'
import { checkFile, connectWriter } from './connection.ts'
import type { WriteCommand } from './write-verbs.ts'

export interface WriterData {
  readonly path: string
  /** The `fileIdentity` of the file when the store was opened. */
  readonly identity: string
  readonly currency: string
  /** The most pages that the file may have, for tests of a full disk. */
  readonly maxPages?: number
  /** The most commands of one transaction. The benches set it to 1, to measure the gain of group commit. */
  readonly maxBatch?: number
}

serve(({ path, identity, currency, maxPages, maxBatch }: WriterData) => {
  checkFile(path, identity)
  const db = connectWriter(path)
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`)
  const run = makeBatch(db, currency, () => checkFile(path, identity))
  const perform = (batch: readonly WriteCommand[]): readonly CommandOutcome[] =>
    maxBatch === undefined ? run(batch) : slices(batch, maxBatch).flatMap(run)
  const answer = (batch: readonly WriteCommand[]) => packOutcomes(batch, perform(batch.map(unpackCommand)))
  return { answer, close: () => db.close() }
})

function slices<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))
}
