import type { Problem } from '../http/problem.ts'

export interface Sender {
  /** A customer or an address. Senders take turns by this name. */
  readonly name: string
  /** Groups take turns with each other, however many senders each of them has. */
  readonly group: 'customers' | 'guests'
  /** Aborted when the sender has closed the connection. */
  readonly signal: AbortSignal
}

/** The request for which a document is read or written. It is charged for the processor time. */
export interface Payer {
  sender(): Sender
  /** Counts processor time, in milliseconds, against the sender's rate limit. */
  chargeWork(milliseconds: number): void
  /** The refusal of documents that still wait, if the sender's other documents have used up the time of its rate. */
  workRefusal(): Problem | undefined
}
