import { DomainError } from './errors.ts'

/**
 * The state that a write expects to find. The store checks it in the same step as the write. An empty precondition accepts anything.
 * A write whose precondition fails throws `precondition-failed` and changes nothing.
 */
export interface Precondition {
  /** The version that the caller read. */
  readonly version?: number
  /** Whether there must be something (`If-Match: *`) or nothing (`If-None-Match: *`). */
  readonly exists?: boolean
  /** The write may only repeat an earlier one, so that it changes nothing. Any other fails. */
  readonly onlyRepeat?: true
}

/**
 * Checks a write that would change something. A write that repeats an earlier one needs no precondition.
 * @param current the version of what is there now; undefined when there is nothing
 * @throws DomainError `precondition-failed`
 */
export function checkPrecondition(expected: Precondition, current: number | undefined): void {
  if (expected.exists === true && current === undefined) fail('There is nothing here to change.')
  if (expected.exists === false && current !== undefined) fail('There is something here already.')
  if (expected.onlyRepeat || (expected.version !== undefined && expected.version !== current)) {
    fail(current === undefined ? 'There is nothing here to change.' : 'It has changed since it was read: read it again.')
  }
}

function fail(detail: string): never {
  throw new DomainError('precondition-failed', detail)
}
