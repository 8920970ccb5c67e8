/** What is wrong with a database file, in one line for who runs the shop: which file, why, and what to do. */

import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { DomainError, StoreOpenError } from '../../domain/errors.ts'
import { diskIsFull, diskReason, isDiskFull } from '../disk.ts'

/** By SQLite's result codes (https://sqlite.org/rescode.html), the first that fits. */
const reasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^SQLITE_FULL/, `cannot be written: ${diskIsFull}`],
  [/^SQLITE_NOTADB/, 'is not a SQLite database: correct DATABASE_URL, or restore a backup'],
  [/^SQLITE_CORRUPT/, 'is damaged: restore a backup'],
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'is locked by another process: end that process, or try again when it has finished'],
  [/^SQLITE_READONLY/, 'cannot be written: this user has no permission for the file or its folder, or the disk is read-only'],
  [/^SQLITE_CANTOPEN/, 'cannot be opened: check the permissions of the file and its folder'],
  [/^SQLITE_IOERR/, 'cannot be read or written: check the disk']
]

/** Undefined: the error is not about the file. */
export function explain(error: unknown, path: string): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined
  const code = String(error.code)
  const reason = diskReason(error)
  if (reason !== undefined) return `${path} cannot be opened or written: ${reason}`
  // Its message says what is meant.
  if (code === 'SQLITE_READONLY_DBMOVED') return error.message
  // SQLite does not tell why the file system refused it.
  if (/^SQLITE_(IOERR|CANTOPEN)/.test(code)) {
    if (isDiskFull(path)) return `${path} cannot be written: ${diskIsFull}`
    const refused = code.startsWith('SQLITE_CANTOPEN') ? whyNotOpened(path) : undefined
    if (refused !== undefined) return `${path} cannot be opened or written: ${refused}`
  }
  const found = reasons.find(([pattern]) => pattern.test(code))
  return found && `${path} ${found[1]} (${code}: ${error.message})`
}

/** Asked without opening it, which would drop SQLite's locks on the file (see file.ts). */
function whyNotOpened(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    accessSync(dirname(path), constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return diskReason(error)
  }
}

/** As the cause of what is thrown, for the log and the commands. */
export function explained(error: unknown, path: string): unknown {
  return explain(error, path) ?? error
}

/** An error of opening as the store throws it. */
export function openError(error: unknown, path: string): unknown {
  if (error instanceof StoreOpenError) return error
  const reason = error instanceof DomainError ? error.cause : error
  const explained = typeof reason === 'string' ? reason : explain(reason, path)
  return explained === undefined ? error : new StoreOpenError(explained, { cause: error })
}
