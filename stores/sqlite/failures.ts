/** Errors as plain data, to cross from the writer's thread; and which of them mean that the database is out of reach. */

import { DomainError, type DomainErrorCode, type Fault } from '../../domain/errors.ts'
import { explained } from './explain.ts'

export type Failure =
  | {
      readonly kind: 'domain'
      readonly code: DomainErrorCode
      readonly message: string
      readonly faults: readonly Fault[]
      readonly orderId: string | undefined
      readonly cause: string | undefined
    }
  | { readonly kind: 'unexpected'; readonly name: string; readonly message: string; readonly stack: string | undefined }

export type Outcome = { readonly value: unknown } | { readonly failure: Failure }

const outOfReach = /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY|PROTOCOL)(_|$)|ENOENT|EACCES|EIO|ENOTDIR|ESTALE)/

/** Whether SQLite (https://sqlite.org/rescode.html), or the file system, says that the file cannot be read or written now. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && outOfReach.test(error.code)
}

export function unavailable(cause?: unknown): DomainError {
  return new DomainError('store-unavailable', 'The shop cannot reach its database now. Nothing was stored; try again soon.', { cause })
}

/** For what was being written when the database was lost. */
export function unknown(cause?: unknown): DomainError {
  const detail =
    'The shop lost its database while this was being written, and does not know whether it was stored: look, or repeat it with the same Idempotency-Key.'
  return new DomainError('store-unavailable', detail, { cause })
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
export function toFailure(thrown: unknown, path: string): Failure {
  const error = isOutOfReach(thrown) ? unavailable(explained(thrown, path)) : thrown
  if (error instanceof DomainError) {
    const { code, message, faults, orderId, cause } = error
    return { kind: 'domain', code, message, faults, orderId, cause: cause === undefined ? undefined : String(cause) }
  }
  if (error instanceof Error) return { kind: 'unexpected', name: error.name, message: error.message, stack: error.stack }
  return { kind: 'unexpected', name: 'Error', message: String(error), stack: undefined }
}

export function isLost(outcome: Outcome): boolean {
  return 'failure' in outcome && outcome.failure.kind === 'domain' && outcome.failure.code === 'store-unavailable'
}

/** @param verb what was tried, for the log */
export function fromFailure(failure: Failure, verb: string): Error {
  if (failure.kind === 'domain') {
    const { code, message, faults, orderId, cause } = failure
    return new DomainError(code, message, { faults, cause, ...(orderId === undefined ? {} : { orderId }) })
  }
  const cause = new Error(failure.message)
  cause.name = failure.name
  if (failure.stack !== undefined) cause.stack = failure.stack
  return new Error(`${verb} failed in the database's writer`, { cause })
}
