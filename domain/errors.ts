import type { FaultCode } from './fault-codes.ts'

/**
 * The codes of the errors that the domain and the stores throw. A code is never reused. http/problem-types.ts gives each its status and the
 * text of its page.
 */
export type DomainErrorCode =
  | 'product-not-found'
  | 'product-deleted'
  | 'product-exists'
  | 'gtin-taken'
  | 'identity-mismatch'
  | 'invalid-product'
  | 'order-not-found'
  | 'invalid-order'
  | 'order-refused'
  | 'order-number-taken'
  | 'transition-refused'
  | 'invalid-status'
  | 'invalid-shipment'
  | 'shipment-refused'
  | 'precondition-failed'
  | 'idempotency-key-reused'
  | 'webhook-not-found'
  | 'invalid-webhook'
  | 'too-many-webhooks'
  | 'unknown-event'
  | 'store-unavailable'
  | 'store-overloaded'

/** One thing that is wrong, and where: `at` lists element names and 1-based positions, from the root's content down. */
export interface Fault {
  readonly detail: string
  /** The reason for programs, within the type of the problem. */
  readonly code?: FaultCode
  readonly at?: readonly (string | number)[]
}

/** The most faults of one document that a problem lists. */
export const mostFaults = 100

interface ErrorDetails {
  readonly faults?: readonly Fault[]
  readonly orderId?: string | undefined
  readonly productId?: string | undefined
  readonly cause?: unknown
}

export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: DomainErrorCode
  /** At most `mostFaults`. */
  readonly faults: readonly Fault[]
  /** The order that already has the number (`order-number-taken`). */
  readonly orderId: string | undefined
  /** The product that already has the id (`product-exists`). */
  readonly productId: string | undefined

  constructor(code: DomainErrorCode, detail: string, more: ErrorDetails = {}) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.faults = more.faults?.slice(0, mostFaults) ?? []
    this.orderId = more.orderId
    this.productId = more.productId
  }
}

/** Whether an error is the shop's refusal with one of the codes. */
export function hasCode(error: unknown, ...codes: readonly DomainErrorCode[]): error is DomainError {
  return error instanceof DomainError && codes.includes(error.code)
}

/**
 * A verb of the store would read a stored order, a page of them or a shipment that is larger than its caller allows. Nothing was read or
 * written. Allow `size` bytes, and call the verb again.
 */
export class LargeRead extends Error {
  override readonly name = 'LargeRead'
  /** Bytes that would be read. */
  readonly size: number

  constructor(size: number) {
    super(`${size} bytes would be read, which are more than the caller allows`)
    this.size = size
  }
}

/** The same refusal hides an order that the caller may not see, so that nobody learns that it exists. */
export function orderNotFound(): DomainError {
  return new DomainError('order-not-found', 'There is no such order, or none that you may see.')
}

/** `after` is no position of this list: `Page.next` never returned it. */
export class PositionError extends RangeError {
  override readonly name = 'PositionError'
}

/**
 * A store cannot be opened. The message is one line for the operator: which file or server, what is wrong, what to do. It
 * never contains a password.
 */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
}
