import { LargeRead } from '../../domain/errors.ts'
import { commandSize, mostNamed } from '../commands.ts'
import { Division } from '../division.ts'
import { type CommandOutcome, notStored, perhapsStored, toFailure } from '../outcomes.ts'
import { type LaneName, storedSize } from '../sizes.ts'
import type { Connection } from './connection.ts'
import { makeEventLog } from './event-log.ts'
import { makeExistingSizes } from './existing-sizes.ts'
import { explained } from './explain.ts'
import { failureOf, isNotCommitted } from './failures.ts'
import { makeTextIndex } from './search.ts'
import type { WriteCommand } from './write-verbs.ts'
import { makeWrites } from './writes.ts'

/**
 * Runs commands as one transaction with one commit, which takes one fsync. A command that fails does not affect the others. Nearly
 * all that fail are refused before they write anything. Only if one fails after that, the batch is run again with a savepoint for
 * each command: within a savepoint, SQLite first copies every page that it changes. Some commands may be postponed (see Division). The
 * outcomes are in the order of the commands, and are durable when the function returns.
 * @param check throws if the database must not be written
 */
export function makeBatch(
  db: Connection,
  currency: string,
  check: () => void
): (commands: readonly WriteCommand[], lane: LaneName) => CommandOutcome[] {
  const index = makeTextIndex(db)
  const events = makeEventLog(db)
  const writes = makeWrites(db, currency, index, events)
  const [begin, commit, rollback] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT'), db.prepare('ROLLBACK')]
  const [save, release, undo] = [db.prepare('SAVEPOINT command'), db.prepare('RELEASE command'), db.prepare('ROLLBACK TO command')]

  const changes = db.prepare<[], number>('SELECT total_changes()').pluck()

  const sizes = makeExistingSizes(db)

  /** A function that returns the outcome of a command that this transaction does not attempt. Call it right before the command. */
  function selector(lane: LaneName): (command: WriteCommand) => CommandOutcome | undefined {
    const division = new Division(lane)
    return (command) => {
      const named = sizes.named(command)
      if (named > mostNamed(command)) return { failure: toFailure(new LargeRead(named)) }
      const existing = storedSize(sizes.changed(command) + named)
      return division.takes({ sent: commandSize(command), existing }) ? undefined : { postponed: existing }
    }
  }

  function attempt({ verb, args }: WriteCommand, undoChanges: () => void): CommandOutcome {
    const write = writes[verb] as (...args: readonly unknown[]) => unknown
    const [mark, before] = [index.mark(), events.written]
    try {
      const value = write(...args)
      return { value, events: events.written - before }
    } catch (error) {
      // SQLite itself may have rolled the whole transaction back (https://sqlite.org/lang_transaction.html, section 3).
      if (!db.inTransaction) throw error
      index.dropAfter(mark)
      undoChanges()
      return { failure: failureOf(error, db.name) }
    }
  }

  /** Returns undefined if a command failed after it had written something: the transaction must be rolled back. */
  function attemptAll(commands: readonly WriteCommand[], lane: LaneName): CommandOutcome[] | undefined {
    const outcomes: CommandOutcome[] = []
    const notAttempted = selector(lane)
    let isWhole = true
    for (const command of commands) {
      const before = changes.get()
      outcomes.push(notAttempted(command) ?? attempt(command, () => (isWhole = changes.get() === before)))
      if (!isWhole) return undefined
    }
    return outcomes
  }

  function attemptAgain(commands: readonly WriteCommand[], lane: LaneName): CommandOutcome[] {
    index.dropAfter(0)
    rollback.run()
    begin.run()
    const notAttempted = selector(lane)
    return commands.map((command) => {
      const known = notAttempted(command)
      if (known) return known
      save.run()
      const outcome = attempt(command, () => undo.run())
      release.run()
      return outcome
    })
  }

  return (commands, lane) => {
    let isCommitting = false
    try {
      check()
      begin.run()
      const outcomes = attemptAll(commands, lane) ?? attemptAgain(commands, lane)
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
