import { CostEstimates } from './cost-estimates.ts'

/** The most that a process has before it answers. One more job may exceed the bytes or the milliseconds. */
export interface WindowLimits {
  readonly jobs: number
  readonly bytes: number
  /** Processor time that the jobs are expected to take. A new job waits for all of them. Absent: no limit. */
  readonly milliseconds?: number
}

interface Sized {
  /** Bytes. */
  readonly size: number
  readonly sender: { readonly name: string }
}

/** The jobs that a process has and has not answered yet, in the order in which it answers. */
export class JobWindow<Job extends Sized> {
  readonly #limits: WindowLimits
  readonly #estimates = new CostEstimates()
  #jobs: { readonly job: Job; readonly expected: number }[] = []
  #bytes = 0
  /** Milliseconds of processor time that all of them are expected to take. */
  #cost = 0

  constructor(limits: WindowLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.#jobs.length
  }

  get hasRoom(): boolean {
    const { jobs, bytes, milliseconds = Number.POSITIVE_INFINITY } = this.#limits
    return this.length < jobs && this.#bytes < bytes && this.#cost < milliseconds
  }

  add(job: Job): void {
    const expected = this.#estimates.estimate(job.sender.name, job.size)
    this.#jobs.push({ job, expected })
    this.#bytes += job.size
    this.#cost += expected
  }

  /** Removes the job that is answered. @param spent milliseconds of processor time */
  shift(spent: number): Job | undefined {
    const first = this.#jobs.shift()
    if (!first) return undefined
    const { job, expected } = first
    this.#bytes -= job.size
    // Sums of fractions are not exact, so an empty window begins at 0 again.
    this.#cost = this.length === 0 ? 0 : this.#cost - expected
    this.#estimates.learn(job.sender.name, job.size, spent)
    return job
  }

  takeAll(): Job[] {
    const all = this.#jobs.map(({ job }) => job)
    this.#jobs = []
    this.#bytes = 0
    this.#cost = 0
    return all
  }
}
