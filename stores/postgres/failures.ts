/** Distinguishes an unreachable database from a conflict with another transaction. */

import pg from 'pg'
import { DomainError, hasCode } from '../../domain/errors.ts'
import { notStored } from '../outcomes.ts'

/**
 * SQLSTATE classes and codes (https://www.postgresql.org/docs/current/errcodes-appendix.html): connection, authorization,
 * no such database, ended for idling, read-only after a failover, out of resources, ended by the operator, and system errors.
 */
const outOfReach = /^(08...|28...|3D000|25006|25P03|53...|57P..|58...)$/
/** Waited too long for a lock, and cancelled by a timeout or the operator. */
const tooLong = /^(55P03|57014)$/
const waitedForLock = '55P03'
/** Serialisation failure, deadlock and unique violation: another transaction wrote between this one's read and its write. */
const race = /^(40001|40P01|23505)$/

/** A row changed while the transaction waited for its lock, so the transaction must start again. */
export class ConcurrentChange extends Error {
  override readonly name = 'ConcurrentChange'
}

/** A command of a transaction that waits for no lock needs a product that another transaction has locked. Nothing of the command was done. */
export class ProductsLocked extends Error {
  override readonly name = 'ProductsLocked'
}

export function isRace(error: unknown): boolean {
  return error instanceof ConcurrentChange || (error instanceof pg.DatabaseError && race.test(error.code ?? ''))
}

/** Whether an error is a bug in this code, not an error of the server, the driver or the network. */
export function isBug(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}

/** Whether there was no answer of the server. An error that is not from the server is from the driver or the network, unless it is a bug. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && !(error instanceof pg.DatabaseError) && !isBug(error)
}

/** Ended by the operator, by a crash of another connection, and for idling. */
const ended = /^57P0[125]$/

/**
 * Whether a connection was ended, so that another one may work. The server says so, or the driver (`Connection terminated unexpectedly`,
 * pg/lib/client.js), or the system. A server that does not answer in time is no such case.
 */
export function isConnectionEnded(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return ended.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  return error.message === 'Connection terminated unexpectedly' || code === 'ECONNRESET' || code === 'EPIPE'
}

function isOutOfReach(error: unknown): boolean {
  return isConnectionLost(error) || (error instanceof pg.DatabaseError && outOfReach.test(error.code ?? ''))
}

export function unavailable(cause?: unknown): DomainError {
  return new DomainError('store-unavailable', 'The shop cannot reach its database right now. Try again in a few seconds.', { cause })
}

export function overloaded(cause?: unknown): DomainError {
  return new DomainError('store-overloaded', 'The shop has too much to do right now. Try again in a few seconds.', { cause })
}

/** The error of a transaction that was undone, or never begun. */
export function overloadedWrite(cause?: unknown): DomainError {
  return new DomainError('store-overloaded', 'The shop has too much to do right now. Nothing was stored. Try again in a few seconds.', {
    cause
  })
}

/** Whether an error is that of a statement which took too long. It comes from another thread, perhaps. */
export function tookTooLong(error: unknown): boolean {
  return tooLong.test(codeOfTooLong(error))
}

/** Whether an error is that of a statement which waited for a lock for longer than `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return codeOfTooLong(error) === waitedForLock
}

function codeOfTooLong(error: unknown): string {
  const cause = hasCode(error, 'store-overloaded') ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** The errors that the store throws when the database needs too long, and when it is out of reach. */
export interface Failures {
  readonly tooLong: (cause?: unknown) => DomainError
  readonly outOfReach: (cause?: unknown) => DomainError
}

export const failures: Failures = { tooLong: overloaded, outOfReach: unavailable }
/** The errors of a transaction whose COMMIT was not sent. */
export const failuresOfWrite: Failures = { tooLong: overloadedWrite, outOfReach: notStored }

/**
 * Turns the error of a connection that could not be made into the error that the store throws. Whatever the server's reason is, it lets
 * nobody in now: `ALTER DATABASE … ALLOW_CONNECTIONS false` is 55000, and without the right to connect it is 42501.
 */
export function connectFailure(error: unknown, when: Failures): unknown {
  const known = failure(error, when)
  return known === error && error instanceof pg.DatabaseError ? when.outOfReach(error) : known
}

/** Turns an error of a statement into the error that the store throws. */
export function failure(error: unknown, { tooLong: whenTooLong, outOfReach: whenOutOfReach } = failures): unknown {
  if (error instanceof pg.DatabaseError && tooLong.test(error.code ?? '')) return whenTooLong(error)
  return isOutOfReach(error) ? whenOutOfReach(error) : error
}
