import type { JsonText } from '../domain/deferred.ts'
import type { LineChange } from '../domain/line-changes.ts'
import { Problem } from '../http/problem.ts'
import { niceness } from '../priority.ts'
import type { Context } from '../representations/representation.ts'
import type { DocumentSchema } from '../schemas/document.ts'
import type { Place } from '../schemas/element.ts'
import { BuyerProblem } from './buyer-problem.ts'
import { DocumentQueue, type JobFailure, type JobOutcome, type QueueOptions } from './document-queue.ts'
import { readFields } from './fields.ts'
import {
  type AnswerJob,
  type ChangeLinesJob,
  type DocumentLimits,
  type FormFields,
  isFirstReading,
  type Job,
  type Location,
  type ReadDocument,
  type Refusal,
  type ResultOf,
  type SentDocument
} from './job.ts'
import type { Payer } from './payer.ts'

/**
 * Milliseconds of processor time for one document. The most expensive document within the default limits, an order of
 * 10,000 items as JSON with every optional field, takes one to two seconds on a slow machine.
 */
const budget = 5_000

/** The same for a small document, which takes 50 ms at most on a usual machine. Other small documents wait for it. */
const smallBudget = 1_000

/** Documents up to this size, in bytes, go to the process for small documents, which is never busy for long. */
const maxSmallSize = 32 * 1024
/** A form up to this size, in bytes, is parsed in less time than it takes to send it to another process. */
const maxInlineForm = 4 * 1024

// With the default of 16 MiB the process grew by 40 MB more in an attack of two minutes, and placed no more orders a second.
const smallOptions = {
  budget: smallBudget,
  niceness: niceness.helper,
  semiSpace: 8,
  window: { jobs: 64, bytes: 256 * 1024, milliseconds: 32 }
}
/**
 * Large documents have two processes of their own, so that small orders do not wait for them. One reads new documents, so the
 * senders decide what they cost. The other one does all the rest, so that nobody's answer waits for the documents of others.
 * A process ends after some time without work.
 */
const largeOptions = {
  budget,
  niceness: niceness.largeDocuments,
  window: { jobs: 1, bytes: Number.POSITIVE_INFINITY },
  // During an attack, the default of 16 MiB would take 50 MB more in the two processes, and a sixth less processor time to read.
  semiSpace: 4,
  growth: 12,
  idle: 30_000
}

/**
 * Reads and writes documents in other processes, so that the serving thread stays free. Senders take turns.
 * Every method throws Problem: the reason why the document is refused, `document-too-costly`, `too-many-requests`,
 * `request-timeout` or `overloaded`.
 */
export class Documents {
  readonly #small: DocumentQueue
  readonly #largeReads: DocumentQueue
  readonly #largeAnswers: DocumentQueue

  constructor(warn: QueueOptions['warn']) {
    this.#small = new DocumentQueue({ ...smallOptions, warn })
    this.#largeReads = new DocumentQueue({ ...largeOptions, warn })
    this.#largeAnswers = new DocumentQueue({ ...largeOptions, warn })
  }

  /** Starts the process for small documents, so that the first order does not wait for it. */
  start(): Promise<void> {
    return this.#small.start()
  }

  /** Validates a document and returns its domain value as JSON. */
  read(
    payer: Payer,
    { notation, bytes, isAscii = false }: SentDocument,
    schema: DocumentSchema<unknown>,
    limits: DocumentLimits
  ): Promise<ReadDocument> {
    return this.#run(payer, { kind: 'read', notation, bytes, isAscii, schema: schema.name, limits }, bytes.length)
  }

  /** Finds the locations of places in a document as it was sent. The document was read before. */
  locate(
    payer: Payer,
    { notation, bytes }: SentDocument,
    schema: DocumentSchema<unknown>,
    limits: DocumentLimits,
    places: readonly Place[]
  ): Promise<readonly Location[]> {
    return this.#run(payer, { kind: 'locate', notation, bytes, schema: schema.name, limits, places }, bytes.length)
  }

  async fields(payer: Payer, bytes: Uint8Array): Promise<FormFields> {
    return bytes.length <= maxInlineForm ? readFields(bytes) : this.#run(payer, { kind: 'fields', bytes }, bytes.length)
  }

  /**
   * @param text the value as JSON
   * @throws Problem `overloaded`, whose `cause` is the JobFailure
   */
  write(payer: Payer, resource: string, mediaType: string, text: JsonText, { typed: _, ...context }: Context): Promise<Uint8Array> {
    // A page that the document process writes does not get `typed`: it tells the person to go back in the browser instead.
    return this.#run(payer, { kind: 'write', resource, mediaType, text, context }, text.length)
  }

  /** Whether a purchase order has the same content as an existing order. Both are JSON. */
  compare(payer: Payer, wanted: JsonText, active: JsonText, currency: string): Promise<boolean> {
    return this.#run(payer, { kind: 'compare', wanted, active, currency }, wanted.length + active.length)
  }

  /** Writes an answer about an order, which is JSON, in the vocabulary of its buyer. */
  answer(payer: Payer, job: Omit<AnswerJob, 'kind'>): Promise<Uint8Array | undefined> {
    return this.#run(payer, { kind: 'answer', ...job }, job.text.length)
  }

  /** Changes single lines of an order. Order and document are JSON, and so is the result. */
  changeLines(payer: Payer, before: JsonText, document: JsonText, changes: readonly LineChange[]): Promise<ResultOf<ChangeLinesJob>> {
    return this.#run(payer, { kind: 'change-lines', before, document, changes }, before.length + document.length)
  }

  async #run<J extends Job>(payer: Payer, job: J, size: number): Promise<ResultOf<J>> {
    const queue = this.#queueFor(job, size)
    let outcome = await queue.run(payer, job, size)
    // A process for large documents starts on demand. When it cannot start, the process for small ones does its work.
    if (outcome === 'unavailable' && queue !== this.#small) outcome = await this.#small.run(payer, job, size)
    // The value that is written has been stored already, so the problem must not say that nothing was stored.
    if ((job.kind === 'write' || job.kind === 'answer') && typeof outcome === 'string') throw answerNotWritten(outcome)
    return resultOf(outcome) as ResultOf<J>
  }

  #queueFor(job: Job, size: number): DocumentQueue {
    if (size <= maxSmallSize) return this.#small
    return isFirstReading(job) ? this.#largeReads : this.#largeAnswers
  }
}

function refused({ code, detail, faults, buyer }: Refusal): Problem {
  return buyer ? new BuyerProblem({ code, message: detail, faults }, buyer) : new Problem(code, detail, { faults })
}

function answerNotWritten(cause: JobFailure): Problem {
  return new Problem('overloaded', 'The answer cannot be written now. Try again in a few seconds.', { cause })
}

function resultOf(outcome: JobOutcome): ResultOf<Job> {
  if (outcome instanceof Problem) throw outcome
  if (outcome === 'too-costly') {
    throw new Problem('document-too-costly', 'The document takes too long to read. Nothing was stored. Send it in smaller parts.')
  }
  if (outcome === 'cancelled')
    throw new Problem('request-timeout', 'The connection was closed before the document was read. Nothing was stored.')
  if (outcome === 'unavailable')
    throw new Problem('overloaded', 'Documents cannot be read now. Nothing was stored. Send it again in a few seconds.')
  if ('refusal' in outcome) throw refused(outcome.refusal)
  if ('failed' in outcome) throw new Error('a document could not be handled')
  return outcome.result
}
