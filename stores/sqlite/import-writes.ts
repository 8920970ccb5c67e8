import { type ImportItem, type ImportOutcome, importOutcome } from '../../domain/product-writes.ts'
import type { ApplyWrite } from './catalogue-writes.ts'
import type { Connection } from './connection.ts'
import type { TextIndex } from './search.ts'
import { makeRevise, onceACommand } from './stock-ledger.ts'
import type { Writes } from './write-verbs.ts'

export function makeImportWrites(db: Connection, apply: ApplyWrite, index: TextIndex): Writes<'importProducts'> {
  const revise = makeRevise(db)
  const [save, undo, release] = [db.prepare('SAVEPOINT dry_run'), db.prepare('ROLLBACK TO dry_run'), db.prepare('RELEASE dry_run')]

  // An item needs no savepoint, because it is refused before anything is written.
  function importAll(batch: readonly ImportItem[]): readonly ImportOutcome[] {
    const reviseOnce = onceACommand(revise)
    return batch.map((item) => importOutcome(() => apply({ verb: 'import', ...item }, reviseOnce)))
  }

  function dryRun(batch: readonly ImportItem[]): readonly ImportOutcome[] {
    const mark = index.mark()
    save.run()
    const outcomes = importAll(batch)
    index.dropAfter(mark)
    undo.run()
    release.run()
    return outcomes
  }

  return {
    importProducts: (batch, mode) => (mode === 'dry-run' ? dryRun(batch) : importAll(batch))
  }
}
