/** Outcomes of writes as plain data, which threads can exchange. */

import { DomainError, type DomainErrorCode, type Fault, LargeRead, PositionError } from '../domain/errors.ts'
import type { ThreadLost } from '../threads/helper-thread.ts'

interface ErrorData {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  /** An error code of Node, a driver or a database. */
  readonly code: string | undefined
}

export type Failure =
  | {
      readonly kind: 'domain'
      readonly code: DomainErrorCode
      readonly message: string
      readonly faults: readonly Fault[]
      readonly orderId: string | undefined
      readonly productId: string | undefined
      readonly cause: ErrorData | string | undefined
    }
  | { readonly kind: 'large-read'; readonly size: number }
  | { readonly kind: 'position'; readonly message: string }
  | (ErrorData & { readonly kind: 'unexpected' })

/**
 * The write was not done: it is large in a batch of small ones, or the writes before it already read as many stored orders as one
 * transaction may read (see Division). It goes into a later batch.
 */
export interface Postponed {
  /** The weight of the stored orders that the write itself reads or changes. */
  readonly postponed: number
}

/** The result of a write that was done. */
export interface Done<T> {
  readonly value: T
  /** The number of events that the write has made. */
  readonly events?: number
}

export type CommandOutcome = Done<unknown> | { readonly failure: Failure } | Postponed

export function toFailure(error: unknown): Failure {
  if (error instanceof LargeRead) return { kind: 'large-read', size: error.size }
  if (error instanceof PositionError) return { kind: 'position', message: error.message }
  if (!(error instanceof DomainError)) return { kind: 'unexpected', ...dataOf(error) }
  const { code, message, faults, orderId, productId, cause } = error
  const causeData = cause === undefined || typeof cause === 'string' ? cause : dataOf(cause)
  return { kind: 'domain', code, message, faults, orderId, productId, cause: causeData }
}

/** @param verb the verb that failed, for the log */
export function fromFailure(failure: Failure, verb: string): Error {
  if (failure.kind === 'unexpected') return new Error(`${verb} failed in the database's thread`, { cause: errorOf(failure) })
  if (failure.kind === 'large-read') return new LargeRead(failure.size)
  if (failure.kind === 'position') return new PositionError(failure.message)
  const { code, message, faults, orderId, productId, cause } = failure
  const originalCause = typeof cause === 'object' ? errorOf(cause) : cause
  return new DomainError(code, message, { faults, cause: originalCause, orderId, productId })
}

function dataOf(error: unknown): ErrorData {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: undefined, code: undefined }
  const { name, message, stack } = error
  return { name, message, stack, code: 'code' in error && typeof error.code === 'string' ? error.code : undefined }
}

function errorOf({ name, message, stack, code }: ErrorData): Error {
  const error = new Error(message)
  error.name = name
  if (stack !== undefined) error.stack = stack
  return code === undefined ? error : Object.assign(error, { code })
}

export function notStored(cause?: unknown): DomainError {
  return new DomainError(
    'store-unavailable',
    'The shop cannot reach its database right now. Nothing was stored. Try again in a few seconds.',
    { cause }
  )
}

/** The error of a write that was in progress when the database was lost. */
export function perhapsStored(cause?: unknown): DomainError {
  const detail =
    'The shop lost its database during this write, and does not know whether it was stored. Read the resource again, or repeat the request with the same Idempotency-Key.'
  return new DomainError('store-unavailable', detail, { cause })
}

/** The error of a write whose thread has ended. @param cause the reason, for the log */
export function lostWrite({ wasAsked }: ThreadLost, cause: unknown): DomainError {
  return wasAsked ? perhapsStored(cause) : notStored(cause)
}
