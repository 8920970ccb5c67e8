import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../config.ts'
import { FairQueue } from '../fairness/fair-queue.ts'
import { entryModule } from '../files.ts'
import { lowerPriority } from '../priority.ts'
import type { FinishedJob, FromProcess, Job } from './job.ts'

/**
 * Why a job has no outcome. `too-costly`: it took too long or crashed the process. `unavailable`: no process could be
 * started. `cancelled`: the caller no longer waits for it.
 */
export type JobFailure = 'too-costly' | 'unavailable' | 'cancelled'

interface Task {
  readonly job: Job
  readonly size: number
  readonly settle: (outcome: FinishedJob | JobFailure) => void
}

export interface ChildOptions {
  /** Milliseconds of processor time that one job may take. */
  readonly budget: number
  /** Milliseconds without work after which the process ends; without it, never. */
  readonly idle?: number
  /** The most jobs, and the most bytes of jobs, that are sent to the process before it answers. */
  readonly window: { readonly jobs: number; readonly bytes: number }
  /** Added to the process's niceness, so that it yields to the thread that serves. */
  readonly niceness: number
  /** Logs a warning for the operator: the process ended, or a job failed because of a bug. */
  readonly warn: (details: object, message: string) => void
}

/** The state of the watch over a job. */
interface Watched {
  /** The processor time of its process in milliseconds, when the watch began and at the last look; undefined where it cannot be read. */
  readonly begin: number | undefined
  readonly last: number | undefined
  /** The number of looks in a row at which the processor time had not grown. */
  readonly stuck: number
}

const entry = fileURLToPath(entryModule('documents/process'))

/** The heap limit of the process in MiB: several times the need of one document of 2 MiB. */
const heapSize = 256

/** After this many failed starts in a row, the waiting jobs fail. */
const maxFailedStarts = 3

/**
 * After this many looks in a row that find no more processor time used, the process is stuck. On a busy machine a process of low
 * priority goes on slowly, so a job has no limit by the clock.
 */
const stuckAfter = 20

/** Milliseconds of a job that do not count against its budget. To read a process's times from /proc costs as much as a small job. */
const unwatched = 50

/** Characters of the process's standard error that are kept for the log. */
const maxErrorOutput = 2_000

/**
 * One document process and the queue of its jobs, from which callers take turns. A job over its budget is killed with the
 * process, and a job that fills the heap crashes it. A new process then retries the jobs that were in flight, one at a
 * time. A job that ends the process while no other job is in it is refused.
 */
export class DocumentChild {
  readonly #options: ChildOptions
  readonly #waiting = new FairQueue<Task>()
  /** Tasks without an answer yet, in the order in which the process answers; the last of them may still be in #outbox. */
  #inFlight: Task[] = []
  #inFlightBytes = 0
  #outbox: Task[] = []
  /** Tasks that were in flight when a process ended. Each is retried alone. */
  #retries: Task[] = []
  #process: ChildProcess | undefined
  #isReady = false
  #failedStarts = 0
  #output = ''
  #timer: NodeJS.Timeout | undefined
  #isFlushing = false

  constructor(options: ChildOptions) {
    this.#options = options
  }

  /** Undefined while no process runs. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Starts the process before the first job needs it. Resolves when it has started or has failed to. */
  start(): Promise<void> {
    this.#process ??= this.#fork()
    const child = this.#process
    if (this.#isReady) return Promise.resolve()
    setKeepsAlive(child, true)
    return new Promise((resolve) => {
      for (const event of ['message', 'error', 'close']) child.once(event, () => resolve())
    })
  }

  /**
   * @param size in bytes
   * @param signal aborted when the caller no longer waits: a job that is still in the queue is then removed from it
   */
  run(caller: string, job: Job, size: number, signal?: AbortSignal): Promise<FinishedJob | JobFailure> {
    if (signal?.aborted) return Promise.resolve('cancelled')
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined
      const settle = (outcome: FinishedJob | JobFailure) => {
        stopListening?.()
        resolve(outcome)
      }
      const task: Task = { job, size, settle }
      this.#waiting.add(caller, task)
      this.#dispatch()
      // A job that has left the queue is not cancelled.
      if (!signal || this.#waiting.isEmpty) return
      const cancel = () => {
        if (this.#waiting.remove(caller, task)) resolve('cancelled')
      }
      signal.addEventListener('abort', cancel, { once: true })
      stopListening = () => signal.removeEventListener('abort', cancel)
    })
  }

  kill(): void {
    this.#process?.kill('SIGKILL')
  }

  #fork(): ChildProcess {
    const child = fork(entry, {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${heapSize}`],
      env: processEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    })
    this.#isReady = false
    this.#output = ''
    child.stderr?.on('data', (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-maxErrorOutput)))
    child.on('message', (message: FromProcess) => this.#receive(message))
    child.on('error', (error) => {
      this.#options.warn({ err: error }, 'the document process could not be started')
      if (child.pid === undefined) this.#handleExit(child, null, null)
    })
    child.once('close', (code, signal) => this.#handleExit(child, code, signal))
    if (child.stderr && 'unref' in child.stderr) (child.stderr as { unref(): void }).unref()
    setKeepsAlive(child, this.#inFlight.length > 0)
    return child
  }

  /** Sends the process as many jobs as its window allows. */
  #dispatch(): void {
    const { window } = this.#options
    if (this.#retries.length > 0) {
      if (this.#inFlight.length === 0) this.#assign(this.#retries.shift())
    } else {
      while (!this.#waiting.isEmpty && this.#inFlight.length < window.jobs && this.#inFlightBytes < window.bytes)
        this.#assign(this.#waiting.take())
    }
    if (this.#outbox.length === 0) return
    this.#process ??= this.#fork()
    setKeepsAlive(this.#process, true)
    if (!this.#isReady || this.#isFlushing) return
    // An idle process gets its job at once. A busy one gets at least as many as it still has, in one message: jobs that come
    // together are parsed together, and libxml2 compiles the schema once for them.
    const unanswered = this.#inFlight.length - this.#outbox.length
    if (unanswered === 0) this.#flush()
    else if (this.#outbox.length >= unanswered) {
      this.#isFlushing = true
      setImmediate(() => {
        this.#isFlushing = false
        if (this.#isReady) this.#flush()
      })
    }
  }

  #assign(task: Task | undefined): void {
    if (!task) return
    this.#inFlight.push(task)
    this.#outbox.push(task)
    this.#inFlightBytes += task.size
  }

  #flush(): void {
    if (this.#outbox.length === 0) return
    const jobs = this.#outbox.map(({ job }) => job)
    this.#outbox = []
    // The budget of an idle process's first job starts now. For every other job it starts when the job before it is answered.
    if (this.#inFlight.length === jobs.length) this.#enforceBudget()
    // The error of a failed send is ignored: the process has ended, and #handleExit handles that.
    this.#process?.send(jobs, () => undefined)
  }

  /** Kills the process when its current job is over its budget. Most jobs are done before their processor time is looked at. */
  #enforceBudget(): void {
    const child = this.#process
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const begin = cpuTime(child?.pid)
      this.#watch(child, { begin, last: begin, stuck: 0 })
    }, unwatched).unref()
  }

  /** Looks at the process's time again and again until it has no job, is over its budget, or is stuck. */
  #watch(child: ChildProcess | undefined, { begin, last, stuck }: Watched): void {
    const { budget } = this.#options
    this.#timer = setTimeout(() => {
      const now = cpuTime(child?.pid)
      const isOver = now === undefined || begin === undefined || now - begin >= budget
      const stuckNow = now === last ? stuck + 1 : 0
      if (isOver || stuckNow >= stuckAfter) child?.kill('SIGKILL')
      else this.#watch(child, { begin, last: now, stuck: stuckNow })
    }, budget).unref()
  }

  #receive(message: FromProcess): void {
    if (message === 'ready') {
      this.#isReady = true
      this.#failedStarts = 0
      if (this.#process?.pid !== undefined) lowerPriority(this.#process.pid, this.#options.niceness)
      if (this.#outbox.length === 0) this.#becomeIdle()
      this.#flush()
      return
    }
    for (const outcome of message) {
      const task = this.#inFlight.shift()
      if (!task) continue
      this.#inFlightBytes -= task.size
      if ('failed' in outcome) this.#options.warn({ stack: outcome.failed }, 'a document could not be handled')
      task.settle(outcome)
    }
    if (this.#inFlight.length > this.#outbox.length) this.#enforceBudget()
    else this.#becomeIdle()
    this.#dispatch()
  }

  #becomeIdle(): void {
    const { idle } = this.#options
    clearTimeout(this.#timer)
    this.#timer = undefined
    setKeepsAlive(this.#process, false)
    if (idle !== undefined && this.#process) this.#timer = setTimeout(() => this.#retire(), idle).unref()
  }

  /** Ends the idle process. It is forgotten at once: a job that comes before its end starts another one, and is not lost with it. */
  #retire(): void {
    this.kill()
    this.#process = undefined
    this.#isReady = false
  }

  #handleExit(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#process !== child) return
    const lost = this.#inFlight
    const wasReady = this.#isReady
    this.#process = undefined
    this.#becomeIdle()
    this.#isReady = false
    this.#inFlight = []
    this.#outbox = []
    this.#inFlightBytes = 0
    if (lost.length > 0 || !wasReady) this.#options.warn({ code, signal, output: this.#output }, 'the document process ended')
    if (!wasReady) this.#failedStarts++
    if (this.#failedStarts >= maxFailedStarts) {
      this.#failedStarts = 0
      for (const { settle } of [...lost, ...this.#retries.splice(0), ...this.#waiting.takeAll()]) settle('unavailable')
      return
    }
    if (wasReady && lost.length === 1) lost.shift()?.settle('too-costly')
    this.#retries.unshift(...lost)
    this.#dispatch()
  }
}

/** Lets the document process keep the service's process alive only while it is busy. */
function setKeepsAlive(child: ChildProcess | undefined, isBusy: boolean): void {
  for (const handle of [child, child?.channel]) {
    if (isBusy) handle?.ref()
    else handle?.unref()
  }
}

/**
 * Milliseconds of processor time that a process has used: the fields utime and stime of /proc/PID/stat (proc(5)), which
 * are in hundredths of a second. Undefined on systems other than Linux.
 */
function cpuTime(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}
