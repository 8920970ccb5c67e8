/** Recognises errors that mean that the database is out of reach. */

import { type Failure, notStored, type Outcome, toFailure } from '../outcomes.ts'
import { explained } from './explain.ts'

const outOfReach = /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY|PROTOCOL)(_|$)|ENOENT|EACCES|EIO|ENOTDIR|ESTALE)/

/** Whether SQLite (https://sqlite.org/rescode.html), or the file system, says that the file cannot be read or written now. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && outOfReach.test(error.code)
}

/**
 * Errors of a COMMIT after which nothing is stored: a write to the log has failed, and a commit counts only when its last
 * frame is whole (https://sqlite.org/fileformat2.html, section 4.1). What fails later, such as the sync of the log, leaves
 * it open: the frames may be found by whoever opens the file after a crash.
 */
const notCommitted = /^SQLITE_(FULL|READONLY|IOERR_WRITE)/

export function isNotCommitted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && notCommitted.test(String(error.code))
}

/** @param path of the database file */
export function failureOf(error: unknown, path: string): Failure {
  return toFailure(isOutOfReach(error) ? notStored(explained(error, path)) : error)
}

export function isLost(outcome: Outcome): boolean {
  return 'failure' in outcome && outcome.failure.kind === 'domain' && outcome.failure.code === 'store-unavailable'
}
