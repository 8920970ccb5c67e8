import { readFileSync } from 'node:fs'

/** Milliseconds of a job that do not count against its budget. To read a process's times from /proc costs as much as a small job. */
const unwatched = 50

/** How often the processor time is looked at during a budget, so that no job gets much more than its budget. */
const looksPerBudget = 10

/**
 * After this many looks in a row that find no more processor time used, the process is stuck. On a busy machine a process of low
 * priority goes on slowly, so a job has no limit by the clock.
 */
const stuckAfter = 20 * looksPerBudget

export interface WatchOptions {
  /** Milliseconds of processor time that one job may take. */
  readonly budget: number
  /** The processor time that the process has used so far, in milliseconds; undefined where it cannot be read. */
  readonly processorTime: () => number | undefined
  /** Ends the process, because its job is over the budget or makes no progress. */
  readonly end: () => void
}

/** The state of the watch over a job. */
interface Watched {
  /** The processor time in milliseconds, when the watch began and at the last look; undefined where it cannot be read. */
  readonly begin: number | undefined
  readonly last: number | undefined
  readonly looks: number
  /** The looks in a row at which the processor time had not grown. */
  readonly idleLooks: number
}

/** Watches a process while it does a job. Most jobs are done before the processor time is looked at. */
export class JobWatch {
  readonly #options: WatchOptions
  #timer: NodeJS.Timeout | undefined

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Watches the job that begins now, and no longer the one before it. */
  start(): void {
    this.stop()
    this.#timer = setTimeout(() => {
      const begin = this.#options.processorTime()
      this.#lookLater({ begin, last: begin, looks: 0, idleLooks: 0 })
    }, unwatched).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #lookLater({ begin, last, looks, idleLooks }: Watched): void {
    const { budget, processorTime, end } = this.#options
    const interval = budget / looksPerBudget
    this.#timer = setTimeout(() => {
      const now = processorTime()
      const watched = { begin, last: now, looks: looks + 1, idleLooks: now === last ? idleLooks + 1 : 0 }
      // If the processor time cannot be read, the clock counts.
      const used = now === undefined || begin === undefined ? watched.looks * interval : now - begin
      if (used >= budget || watched.idleLooks >= stuckAfter) end()
      else this.#lookLater(watched)
    }, interval).unref()
  }
}

/**
 * Milliseconds of processor time that a process has used: the fields utime and stime of /proc/PID/stat (proc(5)), which
 * are in hundredths of a second. Undefined on systems other than Linux.
 */
export function processorTimeOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}
