import { writeOrderState, writeResult } from '../dialects/answers.ts'
import { isLarge, type JsonText, parseText } from '../domain/deferred.ts'
import { changeLines } from '../domain/line-changes.ts'
import type { Order } from '../domain/order.ts'
import { emptyInventory, matchesOrder } from '../domain/placing.ts'
import { Problem } from '../http/problem.ts'
import { shortDetail, shortFault } from '../http/problem-size.ts'
import { checkedOrderRepresentations } from '../representations/checked-order.ts'
import { deliveryBody } from '../representations/delivery-body.ts'
import { eventsRepresentations } from '../representations/events.ts'
import { orderRepresentations } from '../representations/order.ts'
import { orderStatusRepresentations } from '../representations/order-status.ts'
import { ordersRepresentations } from '../representations/orders.ts'
import { variantOf, type WritableRepresentations } from '../representations/representation.ts'
import { shipmentRepresentations } from '../representations/shipment.ts'
import { makeXmlGate } from '../xml/gate.ts'
import { BuyerProblem } from './buyer-problem.ts'
import { readFields } from './fields.ts'
import type { AnswerJob, ChangeLinesJob, CompareJob, FinishedJob, Job, JobResult, ResultOf, WriteJob } from './job.ts'
import { type GuardedDocuments, locateInDocument, readDocument, readTogether } from './read.ts'

/** The resources that the document process can write, by name. */
const writable: ReadonlyMap<string, WritableRepresentations<never>> = new Map(
  [
    orderRepresentations,
    checkedOrderRepresentations,
    ordersRepresentations,
    eventsRepresentations,
    orderStatusRepresentations,
    shipmentRepresentations,
    deliveryBody
  ].map((one) => [one.name, one])
)

function answer({ text, basis, context, done }: AnswerJob): Uint8Array | undefined {
  const order = parseText<Order>(text)
  const written = done ? writeResult(basis, { ...done, order }, context) : writeOrderState(basis, order, context)
  return written === undefined ? undefined : Buffer.from(written)
}

function write({ resource, mediaType, text, context }: WriteJob): Uint8Array {
  const variant = variantOf(writable.get(resource), mediaType)
  if (!variant) throw new Error(`nothing writes ${resource} as ${mediaType}`)
  return Buffer.from(variant.write(parseText(text) as never, context))
}

function compare({ wanted, active, currency }: CompareJob): boolean {
  return matchesOrder(parseText(wanted), parseText(active), emptyInventory, currency)
}

function changeOrderLines({ before, document, changes }: ChangeLinesJob) {
  const { order, ...more } = changeLines(parseText(before), parseText(document), changes)
  return { text: JSON.stringify(order), ...more }
}

/** A large text becomes bytes. The serving thread receives these in parts, and passes them on without decoding them. */
function withBytes<Result extends { readonly text: JsonText }>(result: Result): Result {
  const { text } = result
  return typeof text === 'string' && isLarge(text) ? { ...result, text: Buffer.from(text) } : result
}

/** Jobs of one kind share compiled code and schemas, so the first one in a process takes longer than the others. */
function kindOf(job: Job): string {
  if (job.kind === 'answer' || job.kind === 'fields' || job.kind === 'compare' || job.kind === 'change-lines') return job.kind
  return job.kind === 'write' ? `${job.kind} ${job.resource} ${job.mediaType}` : `${job.kind} ${job.notation} ${job.schema}`
}

/**
 * Milliseconds of processor time that are free in the first job of a kind, because its sender did not start the process. A small
 * document takes 20 to 70 as the first of its kind, and 1 to 7 after that.
 */
const startUp = 250

/** Spans up to this many milliseconds are measured by the clock. */
const shortSpan = 1

/** Processor time of this process, in milliseconds. Unlike the clock, it does not depend on how busy the machine is. */
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Returns a function that gives the processor time since it was called last, in milliseconds. To ask the system for the
 * processor time takes as long as a fifth of a small job (getrusage(2) adds up all threads). So a short span counts as long
 * as it took by the clock.
 */
function startMeter(): () => number {
  let clock = performance.now()
  let processor = processorTime()
  let counted = 0
  return () => {
    const now = performance.now()
    const span = now - clock
    clock = now
    if (span <= shortSpan) {
      counted += span
      return span
    }
    const used = processorTime()
    const spent = Math.max(0, used - processor - counted)
    processor = used
    counted = 0
    return spent
  }
}

/**
 * Returns a function that runs jobs in their order. It never throws: an unexpected error is the outcome `failed`.
 * @param collectGarbage as for `makeXmlGate`
 */
export function makeRunner(collectGarbage?: () => void): (jobs: readonly Job[]) => Iterable<FinishedJob> {
  const gate = makeXmlGate(collectGarbage)

  function result(job: Job, passed: GuardedDocuments): ResultOf<Job> {
    switch (job.kind) {
      case 'read':
        return withBytes(readDocument(job, gate, passed))
      case 'locate':
        return locateInDocument(job)
      case 'fields':
        return readFields(job.bytes)
      case 'write':
        return write(job)
      case 'compare':
        return compare(job)
      case 'answer':
        return answer(job)
      case 'change-lines':
        return withBytes(changeOrderLines(job))
    }
  }

  const seenKinds = new Set<string>()

  return function* run(jobs) {
    const spent = startMeter()
    const passed = readAhead(jobs)
    const share = spent() / jobs.length
    for (const job of jobs) {
      const jobResult = attempt(job, passed)
      const kind = kindOf(job)
      const own = spent()
      yield { ...jobResult, spent: Math.max(0, share + own - (seenKinds.has(kind) ? 0 : startUp)) }
      seenKinds.add(kind)
    }
  }

  function readAhead(jobs: readonly Job[]): GuardedDocuments {
    try {
      return jobs.length > 1 ? readTogether(jobs, gate) : new WeakMap()
    } catch {
      // An unexpected error belongs to one job. It comes again when that job runs.
      return new WeakMap()
    }
  }

  function attempt(job: Job, passed: GuardedDocuments): JobResult {
    try {
      return { result: result(job, passed) }
    } catch (error) {
      if (!(error instanceof Problem)) return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
      const faults = error.faults.map(shortFault)
      const buyer = error instanceof BuyerProblem ? { buyer: error.buyer } : {}
      return { refusal: { code: error.code, detail: shortDetail(error.message), faults, ...buyer } }
    }
  }
}
