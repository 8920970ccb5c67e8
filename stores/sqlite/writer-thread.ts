/** The entry of the writer thread. It answers a batch only after its commit. */

import { serve } from '../../threads/serve.ts'
import { type CommandBatch, packOutcomes, unpackCommand } from '../crossing.ts'
import type { CommandOutcome } from '../outcomes.ts'
import type { LaneName } from '../sizes.ts'
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
  /** Whether the commands of a batch share a transaction. The benches turn this off, to measure the gain. */
  readonly groupCommit?: boolean
}

serve(({ path, identity, currency, maxPages, groupCommit = true }: WriterData) => {
  checkFile(path, identity)
  const db = connectWriter(path)
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`)
  const run = makeBatch(db, currency, () => checkFile(path, identity))
  const perform = (commands: readonly WriteCommand[], lane: LaneName): readonly CommandOutcome[] =>
    groupCommit ? run(commands, lane) : commands.flatMap((command) => run([command], lane))
  const answer = ({ commands, lane }: CommandBatch<WriteCommand>) => {
    const { outcomes, moved } = packOutcomes(commands, perform(commands.map(unpackCommand), lane))
    return { answer: outcomes, moved }
  }
  return { answer, close: () => db.close() }
})
