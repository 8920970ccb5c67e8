/** Recognises errors of an unreachable database. */

import { type CommandOutcome, type Failure, notStored, toFailure } from '../outcomes.ts'
import { explained } from './explain.ts'

const outOfReach = /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY|PROTOCOL)(_|$)|ENOENT|EACCES|EIO|ENOTDIR|ESTALE)/

/** Whether an error of SQLite (https://sqlite.org/rescode.html) or the file system means that the file cannot be used now. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && outOfReach.test(error.code)
}

/**
 * Errors of a COMMIT after which nothing is stored: a write to the log failed, and a commit is valid only if its last frame
 * is complete (https://sqlite.org/fileformat2.html, section 4.1). After a later error, such as a failed sync of the log, the
 * outcome is unknown: after a crash, SQLite may still find the frames in the log.
 */
const notCommitted = /^SQLITE_(FULL|READONLY|IOERR_WRITE)/

export function isNotCommitted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && notCommitted.test(String(error.code))
}

/** @param path of the database file */
export function failureOf(error: unknown, path: string): Failure {
  return toFailure(isOutOfReach(error) ? notStored(explained(error, path)) : error)
}

export function isStoreUnavailable(outcome: CommandOutcome): boolean {
  return 'failure' in outcome && outcome.failure.kind === 'domain' && outcome.failure.code === 'store-unavailable'
}
