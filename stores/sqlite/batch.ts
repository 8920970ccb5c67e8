import { type CommandOutcome, notStored, perhapsStored, toFailure } from '../outcomes.ts'
import type { Connection } from './connection.ts'
import { explained } from './explain.ts'
import { failureOf, isNotCommitted } from './failures.ts'
import { makeTextIndex } from './search.ts'
import { makeWrites, type WriteCommand } from './writes.ts'

/**
 * Runs commands as one transaction with one commit, which takes one fsync. Each command has a savepoint, so a command that
 * fails does not affect the others. The outcomes are in the order of the commands, and are durable when the function returns.
 * @param check throws if the database must not be written
 */
export function makeBatch(db: Connection, currency: string, check: () => void): (commands: readonly WriteCommand[]) => CommandOutcome[] {
  const index = makeTextIndex(db)
  const writes = makeWrites(db, currency, index)
  const [begin, commit, rollback] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT'), db.prepare('ROLLBACK')]
  const [save, release, undo] = [db.prepare('SAVEPOINT command'), db.prepare('RELEASE command'), db.prepare('ROLLBACK TO command')]

  function attempt({ verb, args }: WriteCommand): CommandOutcome {
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
      // A transaction that can be rolled back was not committed. Otherwise the error may have come after the commit frame was written.
      const isUncommitted = !isCommitting || db.inTransaction || isNotCommitted(error)
      if (db.inTransaction) rollback.run()
      const cause = explained(error, db.name)
      const failure = toFailure(isUncommitted ? notStored(cause) : perhapsStored(cause))
      return commands.map(() => ({ failure }))
    }
  }
}
