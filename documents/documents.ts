import { Problem } from '../http/problem.ts'
import type { Context } from '../representations/representation.ts'
import type { DocumentSchema } from '../schemas/document.ts'
import type { Place } from '../schemas/element.ts'
import { type ChildOptions, DocumentChild, type Loss } from './child.ts'
import { readFields } from './fields.ts'
import type { DocumentLimits, FormFields, Job, Location, Outcome, ReadDocument, ResultOf, Sent } from './job.ts'

/**
 * Milliseconds of processor time for one document. The dearest within the default limits, an order of 10,000 items as JSON
 * with all that an item can have, takes one to two seconds on a slow machine.
 */
const budget = 5_000

/** Up to this size, in bytes, a document is read by the process for small ones, which is never busy for long. */
const mostSmall = 32 * 1024

const small = { budget, niceness: 0, window: { jobs: 64, bytes: 256 * 1024 } }
/** Large documents have a process of their own, so that nobody's small order waits for them. It ends when they do. */
const large = { budget, niceness: 5, window: { jobs: 1, bytes: Number.POSITIVE_INFINITY }, idle: 30_000 }

/** Who sends documents, and as long as who waits for them. */
export interface Sender {
  /** A customer, or an address: senders take turns by it. */
  readonly name: string
  /** Aborted when the sender has gone. */
  readonly signal: AbortSignal
}

/** The request for which a document is read or written. */
export interface Payer {
  sender(): Sender
  /** Counts processor time, in milliseconds, against its rate. */
  chargeWork(milliseconds: number): void
}

/**
 * Reads and writes documents beside the thread that serves. Documents wait by sender, and senders take turns.
 * Every method throws Problem: what the document is refused for, `document-too-costly`, or `overloaded`.
 */
export class Documents {
  readonly #small: DocumentChild
  readonly #large: DocumentChild

  constructor(warn: ChildOptions['warn']) {
    this.#small = new DocumentChild({ ...small, warn })
    this.#large = new DocumentChild({ ...large, warn })
  }

  /** Resolves when the process for small documents has started, so that the first order does not wait for it. */
  start(): Promise<void> {
    return this.#small.start()
  }

  /** The domain's value of a document, as JSON. */
  read(payer: Payer, { notation, bytes }: Sent, schema: DocumentSchema<unknown>, limits: DocumentLimits): Promise<ReadDocument> {
    return this.#do(payer, { kind: 'read', notation, bytes, schema: schema.name, limits }, bytes.length)
  }

  /** Where places of a document are that was read before. */
  locate(
    payer: Payer,
    { notation, bytes }: Sent,
    schema: DocumentSchema<unknown>,
    limits: DocumentLimits,
    places: readonly Place[]
  ): Promise<readonly Location[]> {
    return this.#do(payer, { kind: 'locate', notation, bytes, schema: schema.name, limits, places }, bytes.length)
  }

  async fields(payer: Payer, bytes: Uint8Array): Promise<FormFields> {
    // A form of a few lines is taken apart in less time than the way to the other process takes.
    return bytes.length <= mostSmall ? readFields(bytes) : this.#do(payer, { kind: 'fields', bytes }, bytes.length)
  }

  /** @param text the value as JSON */
  write(payer: Payer, resource: string, mediaType: string, text: string, context: Context): Promise<Uint8Array> {
    return this.#do(payer, { kind: 'write', resource, mediaType, text, context }, text.length)
  }

  /** Whether a purchase order says the same as an order that stands; both as JSON. */
  compare(payer: Payer, wanted: string, active: string, currency: string): Promise<boolean> {
    return this.#do(payer, { kind: 'compare', wanted, active: active, currency }, wanted.length + active.length)
  }

  async #do<J extends Job>(payer: Payer, job: J, size: number): Promise<ResultOf<J>> {
    const { name, signal } = payer.sender()
    let outcome = size <= mostSmall ? 'absent' : await this.#large.run(name, job, size, signal)
    // The process for large documents starts when one comes: where it cannot any more, the other does its work.
    if (outcome === 'absent') outcome = await this.#small.run(name, job, size, signal)
    payer.chargeWork(spentOn(outcome))
    // What is written is stored already, whatever becomes of the answer.
    if (job.kind === 'write' && typeof outcome === 'string') throw unwritten()
    return resultOf(outcome) as ResultOf<J>
  }
}

/** A document that had to be ended has spent its whole budget. */
function spentOn(outcome: Outcome | Loss): number {
  if (outcome === 'costly') return budget
  return typeof outcome === 'string' ? 0 : (outcome.spent ?? 0)
}

function unwritten(): Problem {
  return new Problem('overloaded', 'The answer cannot be written now. What was asked for was done; read it again in a few seconds.')
}

function resultOf(outcome: Outcome | Loss): ResultOf<Job> {
  if (outcome === 'costly') {
    throw new Problem('document-too-costly', 'The document takes too long to read. Nothing was stored. Send it in smaller parts.')
  }
  if (outcome === 'unwanted')
    throw new Problem('request-timeout', 'The connection was closed before the document was read. Nothing was stored.')
  if (outcome === 'absent') throw new Problem('overloaded', 'No document can be read now. Nothing was stored; try again soon.')
  if ('refusal' in outcome) throw new Problem(outcome.refusal.code, outcome.refusal.detail, { faults: outcome.refusal.faults })
  if ('failed' in outcome) throw new Error('a document could not be handled')
  return outcome.result
}
