import { emptyInventory, matchesOrder } from '../domain/placing.ts'
import { Problem } from '../http/problem.ts'
import { mostFaults, shortDetail, shortFault } from '../http/problem-size.ts'
import { orderRepresentations } from '../representations/order.ts'
import type { Representations } from '../representations/representation.ts'
import { makeXmlGate } from '../xml/gate.ts'
import { readFields } from './fields.ts'
import type { CompareJob, Ending, Job, Outcome, ResultOf, WriteJob } from './job.ts'
import { locateInDocument, readDocument } from './read.ts'

/** What can be written here, by name. */
const writable: Readonly<Record<string, Representations<never>>> = { order: orderRepresentations }

function write({ resource, mediaType, text, context }: WriteJob): Uint8Array {
  const variant = writable[resource]?.variants.find((one) => one.mediaType === mediaType)
  if (!variant) throw new Error(`nothing writes ${resource} as ${mediaType}`)
  return Buffer.from(variant.write(JSON.parse(text) as never, context))
}

function compare({ wanted, active, currency }: CompareJob): boolean {
  return matchesOrder(JSON.parse(wanted), JSON.parse(active), emptyInventory, currency)
}

/** Jobs that need the same to be compiled: their first in a process takes far longer than the others. */
function kindOf(job: Job): string {
  if (job.kind === 'fields' || job.kind === 'compare') return job.kind
  return job.kind === 'write' ? `${job.kind} ${job.resource} ${job.mediaType}` : `${job.kind} ${job.notation} ${job.schema}`
}

/** Of this process, in milliseconds. A busy machine makes no job dearer. */
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Does jobs one after the other. Nothing that it is given can make it throw. */
export function makeRunner(): (job: Job) => Outcome {
  const gate = makeXmlGate()

  function result(job: Job): ResultOf<Job> {
    switch (job.kind) {
      case 'read':
        return readDocument(job, gate)
      case 'locate':
        return locateInDocument(job)
      case 'fields':
        return readFields(job.bytes)
      case 'write':
        return write(job)
      case 'compare':
        return compare(job)
    }
  }

  const known = new Set<string>()

  return (job) => {
    const startedAt = processorTime()
    const ending = end(job)
    const kind = kindOf(job)
    if (known.has(kind)) return { ...ending, spent: processorTime() - startedAt }
    known.add(kind)
    return ending
  }

  function end(job: Job): Ending {
    try {
      return { result: result(job) }
    } catch (error) {
      if (!(error instanceof Problem)) return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
      const faults = error.faults.slice(0, mostFaults).map(shortFault)
      return { refusal: { code: error.code, detail: shortDetail(error.message), faults } }
    }
  }
}
