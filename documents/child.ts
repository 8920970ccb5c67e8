import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../config.ts'
import { FairQueue } from '../fairness/fair-queue.ts'
import type { FromProcess, Job, Outcome } from './job.ts'

/**
 * Why a job has no outcome. `costly`: it took too long, or ended the process. `absent`: no process could be started.
 * `unwanted`: nobody waits for it any more.
 */
export type Loss = 'costly' | 'absent' | 'unwanted'

interface Task {
  readonly job: Job
  readonly size: number
  readonly settle: (outcome: Outcome | Loss) => void
}

export interface ChildOptions {
  /** Milliseconds of processor time that one job may take. */
  readonly budget: number
  /** Milliseconds without work after which the process ends; without it, never. */
  readonly idle?: number
  /** Jobs, and bytes of them, that the process may have before it. */
  readonly window: { readonly jobs: number; readonly bytes: number }
  /** Added to the process's niceness, so that it yields to the thread that serves. */
  readonly niceness: number
  /** Told of what the operator should know: the process ended, or a job failed by a defect. */
  readonly warn: (details: object, message: string) => void
}

const entry = fileURLToPath(new URL(`./process.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))

/** Heap of the process in MiB: what one document of 2 MiB needs several times over. */
const heap = 256

/** Starts in a row that may fail before what waits is given up. */
const mostFailedStarts = 3

/** Where the machine is busy, a job may take this many times its budget by the clock. */
const clockFactor = 20

/** How much of what the process wrote to standard error is kept for the log, in characters. */
const keptOutput = 2_000

/**
 * One document process and what waits for it, taken from the callers in turn. A job over its budget ends the process; so
 * may a job that fills the heap. Then a new one is started, which does what else was before the process, one at a time:
 * whoever ends the process alone is the one who is refused.
 */
export class DocumentChild {
  readonly #options: ChildOptions
  readonly #waiting = new FairQueue<Task>()
  /** What the process has, in the order in which it answers. */
  #sent: Task[] = []
  #sentBytes = 0
  #unsent: Task[] = []
  /** Tasks that were before a process that ended: each is tried alone. */
  #suspects: Task[] = []
  #process: ChildProcess | undefined
  #isReady = false
  #failedStarts = 0
  #output = ''
  #timer: NodeJS.Timeout | undefined
  #isFlushing = false

  constructor(options: ChildOptions) {
    this.#options = options
  }

  /** Of the process, while there is one. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Starts the process before the first job needs it; resolves when it has, or has failed to. */
  start(): Promise<void> {
    this.#process ??= this.#fork()
    const child = this.#process
    if (this.#isReady) return Promise.resolve()
    hold(child, true)
    return new Promise((resolve) => {
      for (const event of ['message', 'error', 'close']) child.once(event, () => resolve())
    })
  }

  /**
   * @param size in bytes
   * @param signal aborted when nobody waits for the outcome any more: a job that still waits then goes
   */
  run(caller: string, job: Job, size: number, signal?: AbortSignal): Promise<Outcome | Loss> {
    if (signal?.aborted) return Promise.resolve('unwanted')
    return new Promise((resolve) => {
      const leave = () => {
        if (this.#waiting.remove(caller, task)) resolve('unwanted')
      }
      const settle = (outcome: Outcome | Loss) => {
        signal?.removeEventListener('abort', leave)
        resolve(outcome)
      }
      const task: Task = { job, size, settle }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.add(caller, task)
      this.#fill()
    })
  }

  /** Ends the process where it stands. */
  end(): void {
    this.#process?.kill('SIGKILL')
  }

  #fork(): ChildProcess {
    const child = fork(entry, {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${heap}`],
      env: processEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    })
    this.#isReady = false
    this.#output = ''
    child.stderr?.on('data', (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-keptOutput)))
    child.on('message', (message: FromProcess) => this.#receive(message))
    child.on('error', (error) => {
      this.#options.warn({ err: error }, 'the document process could not be started')
      if (child.pid === undefined) this.#ended(child, null, null)
    })
    child.once('close', (code, signal) => this.#ended(child, code, signal))
    if (child.stderr && 'unref' in child.stderr) (child.stderr as { unref(): void }).unref()
    hold(child, this.#sent.length > 0)
    if (this.#options.niceness > 0 && child.pid !== undefined) lower(child.pid, this.#options.niceness)
    return child
  }

  /** Gives the process as much as its window lets in. */
  #fill(): void {
    const { window } = this.#options
    if (this.#suspects.length > 0) {
      if (this.#sent.length === 0) this.#give(this.#suspects.shift())
    } else {
      while (!this.#waiting.isEmpty && this.#sent.length < window.jobs && this.#sentBytes < window.bytes) this.#give(this.#waiting.take())
    }
    if (this.#unsent.length === 0) return
    this.#process ??= this.#fork()
    hold(this.#process, true)
    if (!this.#isReady || this.#isFlushing) return
    // An idle process gets its job at once; while it works, what comes within a turn of the event loop goes together.
    if (this.#sent.length === this.#unsent.length) this.#flush()
    else {
      this.#isFlushing = true
      setImmediate(() => {
        this.#isFlushing = false
        if (this.#isReady) this.#flush()
      })
    }
  }

  #give(task: Task | undefined): void {
    if (!task) return
    this.#sent.push(task)
    this.#unsent.push(task)
    this.#sentBytes += task.size
  }

  #flush(): void {
    if (this.#unsent.length === 0) return
    const jobs = this.#unsent.map(({ job }) => job)
    this.#unsent = []
    // The first job of an idle process; for every other the time starts when the one before it is answered.
    if (this.#sent.length === jobs.length) this.#watch()
    // A process that is gone is told by its end, not by this.
    this.#process?.send(jobs, () => undefined)
  }

  /** Gives the first job that is not answered its time. */
  #watch(): void {
    const child = this.#process
    const { budget } = this.#options
    const [startedAt, usedBefore] = [performance.now(), cpuTime(child?.pid)]
    const look = () => {
      const used = cpuTime(child?.pid)
      const isOver = used === undefined || usedBefore === undefined || used - usedBefore >= budget
      if (isOver || performance.now() - startedAt >= clockFactor * budget) child?.kill('SIGKILL')
      else this.#timer = setTimeout(look, budget).unref()
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(look, budget).unref()
  }

  #receive(message: FromProcess): void {
    if (message === 'ready') {
      this.#isReady = true
      this.#failedStarts = 0
      if (this.#unsent.length === 0) this.#rest()
      this.#flush()
      return
    }
    for (const outcome of message) {
      const task = this.#sent.shift()
      if (!task) continue
      this.#sentBytes -= task.size
      if ('failed' in outcome) this.#options.warn({ stack: outcome.failed }, 'a document could not be handled')
      task.settle(outcome)
    }
    if (this.#sent.length > this.#unsent.length) this.#watch()
    else this.#rest()
    this.#fill()
  }

  #rest(): void {
    const { idle } = this.#options
    clearTimeout(this.#timer)
    this.#timer = undefined
    hold(this.#process, false)
    if (idle !== undefined && this.#process) this.#timer = setTimeout(() => this.end(), idle).unref()
  }

  #ended(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#process !== child) return
    const lost = this.#sent
    const wasReady = this.#isReady
    this.#process = undefined
    this.#rest()
    this.#isReady = false
    this.#sent = []
    this.#unsent = []
    this.#sentBytes = 0
    if (lost.length > 0 || !wasReady) this.#options.warn({ code, signal, output: this.#output }, 'the document process ended')
    if (!wasReady) this.#failedStarts++
    if (this.#failedStarts >= mostFailedStarts) {
      this.#failedStarts = 0
      for (const { settle } of [...lost, ...this.#suspects.splice(0), ...this.#waiting.takeAll()]) settle('absent')
      return
    }
    if (wasReady && lost.length === 1) lost.shift()?.settle('costly')
    this.#suspects.unshift(...lost)
    this.#fill()
  }
}

/** Only work that is under way keeps the service's process alive. */
function hold(child: ChildProcess | undefined, isBusy: boolean): void {
  for (const handle of [child, child?.channel]) {
    if (isBusy) handle?.ref()
    else handle?.unref()
  }
}

function lower(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // The process has ended already, or the system does not allow it: it only runs with the same priority.
  }
}

/**
 * Milliseconds of processor time that a process has used, on Linux: the fields utime and stime of proc(5)'s stat, in
 * hundredths of a second. Elsewhere undefined.
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
