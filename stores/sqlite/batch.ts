import { notStored, type Outcome, perhapsStored, toFailure } from '../outcomes.ts'
import type { Connection } from './connection.ts'
import { explained } from './explain.ts'
import { failureOf, isNotCommitted } from './failures.ts'
import { makeTextIndex } from './search.ts'
import { makeWrites, type WriteCommand } from './writes.ts'

/**
 * Runs commands as one transaction: a savepoint each, so that what one is refused never touches its neighbours, and one
 * commit, which is one fsync. The outcomes are in the commands' order and hold once this has returned.
 * @param check throws when nothing may be written now
 */
export function makeBatch(db: Connection, currency: string, check: () => void): (commands: readonly WriteCommand[]) => Outcome[] {
  const index = makeTextIndex(db)
  const writes = makeWrites(db, currency, index)
  const [begin, commit, rollback] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT'), db.prepare('ROLLBACK')]
  const [save, release, undo] = [db.prepare('SAVEPOINT command'), db.prepare('RELEASE command'), db.prepare('ROLLBACK TO command')]

  function attempt({ verb, args }: WriteCommand): Outcome {
    const write = writes[verb] as (...args: readonly unknown[]) => unknown
    const mark = index.mark()
    save.run()
    try {
      const value = write(...args)
      release.run()
      return { value }
    } catch (error) {
      // SQLite itself may have rolled the whole transaction back (https://sqlite.org/lang_transaction.html, section 3).
      if (!db.inTransaction) throw error
      index.dropAfter(mark)
      undo.run()
      release.run()
      return { failure: failureOf(error, db.name) }
    }
  }

  return (commands) => {
    let isCommitting = false
    try {
      check()
      begin.run()
      const outcomes = commands.map(attempt)
      index.flush()
      isCommitting = true
      commit.run()
      return outcomes
    } catch (error) {
      index.dropAfter(0)
      // What can be rolled back was not committed; else an I/O error may have come after the commit's own frame was written.
      const isKnown = !isCommitting || db.inTransaction || isNotCommitted(error)
      if (db.inTransaction) rollback.run()
      const cause = explained(error, db.name)
      const failure = toFailure(isKnown ? notStored(cause) : perhapsStored(cause))
      return commands.map(() => ({ failure }))
    }
  }
}
