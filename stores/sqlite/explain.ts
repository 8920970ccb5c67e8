/** Explains errors of a database file to the operator in one line: which file, why, and what to do. */

import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { DomainError, StoreOpenError } from '../../domain/errors.ts'
import { diskIsFull, diskReason, isDiskFull } from '../disk.ts'

const elsewhere = 'or set DATABASE_URL to another path'
const permit = `give this user the right to read and write the file and its folder, ${elsewhere}`

/** Each advice tells the operator what to do about one error code of the file system. */
const advice: Readonly<Record<string, string>> = { EACCES: permit, EPERM: permit, EROFS: `mount it for writing, ${elsewhere}` }

/** Reasons by SQLite's result codes (https://sqlite.org/rescode.html). The first that matches is used. */
const reasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^SQLITE_FULL/, `cannot be written: ${diskIsFull}`],
  [/^SQLITE_NOTADB/, 'is not a SQLite database: correct DATABASE_URL, or restore a backup'],
  [/^SQLITE_CORRUPT/, 'is damaged: restore a backup'],
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'is locked by another process: end that process, or try again when it has finished'],
  [/^SQLITE_READONLY/, `cannot be written: this user has no permission, or the disk is read-only; ${permit}`],
  [/^SQLITE_CANTOPEN/, 'cannot be opened: check the permissions of the file and its folder'],
  [/^SQLITE_IOERR/, 'cannot be read or written: check the disk']
]

/** @returns undefined if the error is not about the file */
export function explain(error: unknown, path: string): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined
  const code = String(error.code)
  const reason = diskReason(error)
  if (reason !== undefined) return `${path} cannot be opened or written: ${reason}${code in advice ? `; ${advice[code]}` : ''}`
  // `checkFile` throws this error with a message for the operator.
  if (code === 'SQLITE_READONLY_DBMOVED') return error.message
  // SQLite does not report the error of the file system.
  if (/^SQLITE_(IOERR|CANTOPEN)/.test(code)) {
    if (isDiskFull(path)) return `${path} cannot be written: ${diskIsFull}`
    const refusal = code.startsWith('SQLITE_CANTOPEN') ? explain(whyNotOpened(path), path) : undefined
    if (refusal !== undefined) return refusal
  }
  const found = reasons.find(([pattern]) => pattern.test(code))
  return found && `${path} ${found[1]} (${code}: ${error.message})`
}

/** The error of the file system that keeps a file from being opened. The file is not opened here, since closing it would drop SQLite's locks (see file.ts). */
function whyNotOpened(path: string): unknown {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    accessSync(dirname(path), constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return error
  }
}

/** The explanation of an error, or the error itself: for the cause of a DomainError. */
export function explained(error: unknown, path: string): unknown {
  return explain(error, path) ?? error
}

/** Turns an error of opening a database into a StoreOpenError, if it can be explained. */
export function openError(error: unknown, path: string): unknown {
  if (error instanceof StoreOpenError) return error
  const reason = error instanceof DomainError ? error.cause : error
  const message = typeof reason === 'string' ? reason : explain(reason, path)
  return message === undefined ? error : new StoreOpenError(message, { cause: error })
}
