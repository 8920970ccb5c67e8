import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../config.ts'
import { FewPerTurn } from '../fairness/few-per-turn.ts'
import { GroupedQueue } from '../fairness/grouped-queue.ts'
import { RateTally } from '../fairness/rate-tally.ts'
import { entryModule } from '../files.ts'
import type { Problem } from '../http/problem.ts'
import { lowerPriority } from '../priority.ts'
import { type FinishedJob, type FromProcess, type Job, readsSentDocument } from './job.ts'
import { JobWatch, processorTimeOf } from './job-watch.ts'
import { JobWindow, type WindowLimits } from './job-window.ts'
import type { Payer, Sender } from './payer.ts'

/**
 * Why a job has no outcome. `too-costly`: it took too long or crashed the process. `unavailable`: no process could be
 * started. `cancelled`: the caller no longer waits for it.
 */
export type JobFailure = 'too-costly' | 'unavailable' | 'cancelled'

/** A Problem refuses a document whose sender has used up its rate with other documents. */
export type JobOutcome = FinishedJob | JobFailure | Problem

interface Task {
  readonly job: Job
  readonly size: number
  readonly payer: Payer
  readonly sender: Sender
  readonly resolve: (outcome: JobOutcome) => void
}

export interface ChildOptions {
  /** Milliseconds of processor time that one job may take. */
  readonly budget: number
  /** Milliseconds without work after which the process ends; without it, never. */
  readonly idle?: number
  /** MiB of each half of the heap's young generation, if not the default. Less takes less memory, and more processor time. */
  readonly semiSpace?: number
  /** The most that is sent to the process before it answers. */
  readonly window: WindowLimits
  /**
   * Whether the sender whose jobs have taken the least processor time in the last minute is next, so that whoever sends costly
   * documents waits for the others. To find that sender takes too long for small jobs. Without this, each sender is next in turn.
   */
  readonly leastServedFirst?: boolean
  /** Added to the process's niceness, so that it yields to the thread that serves. */
  readonly niceness: number
  /** Logs a warning for the operator: the process ended, or a job failed because of a bug. */
  readonly warn: (details: object, message: string) => void
}

const entry = fileURLToPath(entryModule('documents/process'))

/** The heap limit of the process in MiB: several times the need of one document of 2 MiB. */
const heapSize = 256

/** After this many failed starts in a row, the waiting jobs fail. */
const maxFailedStarts = 3

/** Processor time is counted for each sender over this many milliseconds, and for no more senders than these. */
const served = { window: 60_000, maxCallers: 10_000 }

/** Characters of the process's standard error that are kept for the log. */
const maxErrorOutput = 2_000

/**
 * One document process and the queue of its jobs, from which senders take turns. A job over its budget is killed with the
 * process, and a job that fills the heap crashes it. The jobs that were in flight then go back to the queue, and until all of them
 * are done, a new process gets one job at a time. A job that ends the process while no other job is in it is refused.
 */
export class DocumentChild {
  readonly #options: ChildOptions
  readonly #served: RateTally | undefined
  readonly #waiting: GroupedQueue<Task>
  /** Tasks without an answer yet; the last of them may still be in #outbox. */
  readonly #inFlight: JobWindow<Task>
  #outbox: Task[] = []
  /** Tasks that were in flight when a process ended, and wait or are tried again: one of them may have ended it. */
  readonly #suspects = new Set<Task>()
  /** Outcomes on their way to those who wait for them. */
  readonly #outcomes = new FewPerTurn()
  #process: ChildProcess | undefined
  #isReady = false
  #failedStarts = 0
  #output = ''
  readonly #watch: JobWatch
  #idleTimer: NodeJS.Timeout | undefined
  #isFlushing = false

  constructor(options: ChildOptions) {
    this.#options = options
    this.#inFlight = new JobWindow(options.window)
    const tally = options.leastServedFirst ? new RateTally(served) : undefined
    this.#served = tally
    this.#waiting = new GroupedQueue(tally && ((sender) => tally.look(sender).current))
    this.#watch = new JobWatch({
      budget: options.budget,
      processorTime: () => processorTimeOf(this.#process?.pid),
      end: () => this.kill()
    })
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
   * Runs a job for its payer, and charges the payer.
   * @param size in bytes
   */
  run(payer: Payer, job: Job, size: number): Promise<JobOutcome> {
    const sender = payer.sender()
    const { signal } = sender
    if (signal.aborted) return Promise.resolve('cancelled')
    return new Promise((resolve) => {
      const cancel = () => {
        // A job that may have ended the process is tried again even if nobody waits for it, because only then its sender is charged.
        if (!this.#suspects.has(task) && this.#waiting.remove(sender, task)) resolve('cancelled')
      }
      let isSettled = false
      const task: Task = {
        job,
        size,
        payer,
        sender,
        resolve(outcome) {
          isSettled = true
          signal.removeEventListener('abort', cancel)
          resolve(outcome)
        }
      }
      this.#waiting.add(sender, task)
      this.#dispatch()
      // A job that has left the queue is not cancelled.
      if (!isSettled && !this.#waiting.isEmpty) signal.addEventListener('abort', cancel, { once: true })
    })
  }

  kill(): void {
    this.#process?.kill('SIGKILL')
  }

  #fork(): ChildProcess {
    const { semiSpace } = this.#options
    const child = fork(entry, {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${heapSize}`, ...(semiSpace === undefined ? [] : [`--max-semi-space-size=${semiSpace}`])],
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
    while (this.#suspects.size > 0 ? this.#inFlight.length === 0 : this.#inFlight.hasRoom) {
      const task = this.#takeNext()
      if (!task) break
      this.#inFlight.add(task)
      this.#outbox.push(task)
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

  /**
   * The next job of the queue. A document whose sender has used up its rate while it waited is refused. One that was read before is
   * not, so that its sender learns where its faults are.
   */
  #takeNext(): Task | undefined {
    for (;;) {
      const task = this.#waiting.take()
      const isUnread = task && task.job.kind !== 'locate' && readsSentDocument(task.job)
      const refusal = isUnread ? task.payer.workRefusal() : undefined
      if (!task || !refusal) return task
      this.#settle(task, refusal)
    }
  }

  /** Charges the sender before the next job is taken from the queue. */
  #settle(task: Task, outcome: JobOutcome): void {
    const cost = this.#costOf(outcome)
    task.payer.chargeWork(cost)
    this.#served?.charge(task.sender.name, cost)
    this.#suspects.delete(task)
    this.#outcomes.add(task.sender.name, () => task.resolve(outcome))
  }

  /** A job that ended the process has used its whole budget. */
  #costOf(outcome: JobOutcome): number {
    if (outcome === 'too-costly') return this.#options.budget
    return typeof outcome === 'object' && 'spent' in outcome ? outcome.spent : 0
  }

  #flush(): void {
    if (this.#outbox.length === 0) return
    const jobs = this.#outbox.map(({ job }) => job)
    this.#outbox = []
    clearTimeout(this.#idleTimer)
    // The budget of an idle process's first job starts now. For every other job it starts when the job before it is answered.
    if (this.#inFlight.length === jobs.length) this.#watch.start()
    // The error of a failed send is ignored: the process has ended, and #handleExit handles that.
    this.#process?.send(jobs, () => undefined)
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
      const task = this.#inFlight.shift(outcome.spent)
      if (!task) continue
      if ('failed' in outcome) this.#options.warn({ stack: outcome.failed }, 'a document could not be handled')
      this.#settle(task, outcome)
    }
    if (this.#inFlight.length > this.#outbox.length) this.#watch.start()
    else this.#becomeIdle()
    this.#dispatch()
  }

  #becomeIdle(): void {
    const { idle } = this.#options
    this.#watch.stop()
    clearTimeout(this.#idleTimer)
    setKeepsAlive(this.#process, false)
    if (idle !== undefined && this.#process) this.#idleTimer = setTimeout(() => this.#retire(), idle).unref()
  }

  /** Ends the idle process. It is forgotten at once: a job that comes before its end starts another one, and is not lost with it. */
  #retire(): void {
    this.kill()
    this.#process = undefined
    this.#isReady = false
  }

  #handleExit(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#process !== child) return
    const lost = this.#inFlight.takeAll()
    const wasReady = this.#isReady
    this.#process = undefined
    this.#becomeIdle()
    this.#isReady = false
    this.#outbox = []
    if (lost.length > 0 || !wasReady) this.#options.warn({ code, signal, output: this.#output }, 'the document process ended')
    if (!wasReady) this.#failedStarts++
    if (this.#failedStarts >= maxFailedStarts) {
      this.#failedStarts = 0
      for (const task of [...lost, ...this.#waiting.takeAll()]) this.#settle(task, 'unavailable')
      return
    }
    if (wasReady) this.#retry(lost)
    else for (const task of lost) this.#waiting.add(task.sender, task)
    this.#dispatch()
  }

  /** Refuses the job that has ended the process. If it is one of several, each is tried again, the likeliest one last. */
  #retry([first, ...others]: readonly Task[]): void {
    if (!first) return
    if (others.length === 0) {
      this.#settle(first, 'too-costly')
      return
    }
    for (const task of [...others, first]) {
      this.#suspects.add(task)
      this.#waiting.add(task.sender, task)
    }
  }
}

/** Lets the document process keep the service's process alive only while it is busy. */
function setKeepsAlive(child: ChildProcess | undefined, isBusy: boolean): void {
  for (const handle of [child, child?.channel]) {
    if (isBusy) handle?.ref()
    else handle?.unref()
  }
}
