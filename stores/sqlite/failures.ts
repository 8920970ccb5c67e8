/** Recognises errors of an unreachable database. */

import { type DomainError, hasCode } from '../../domain/errors.ts'
import { type CommandOutcome, type Failure, notStored, toFailure } from '../outcomes.ts'
import { explained } from './explain.ts'

const outOfReach = /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY|PROTOCOL|CORRUPT|NOTADB)(_|$)|ENOENT|EACCES|EIO|ENOTDIR|ESTALE)/

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

/**
 * Whether an error of the store says that the file is damaged, which does not pass by itself. Its cause is a text (see `explained`), because errors
 * come from other threads, too.
 */
export function isDamage(error: unknown): error is DomainError {
  return hasCode(error, 'store-unavailable') && /\bSQLITE_(CORRUPT|NOTADB)/.test(String(error.cause))
}

/** @param path of the database file */
export function failureOf(error: unknown, path: string): Failure {
  return toFailure(isOutOfReach(error) ? notStored(explained(error, path)) : error)
}

export function isStoreUnavailable(outcome: CommandOutcome): boolean {
  return 'failure' in outcome && outcome.failure.kind === 'domain' && outcome.failure.code === 'store-unavailable'
}
