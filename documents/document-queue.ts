import { FewPerTurn } from '../fairness/few-per-turn.ts'
import { GroupedQueue } from '../fairness/grouped-queue.ts'
import { RateTally } from '../fairness/rate-tally.ts'
import type { Problem } from '../http/problem.ts'
import { DocumentProcess, type ProcessEnd, type ProcessOptions } from './document-process.ts'
import { type FinishedJob, isFirstReading, type Job } from './job.ts'
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

export interface QueueOptions extends ProcessOptions {
  /** Milliseconds of processor time that one job may take. */
  readonly budget: number
  /** Milliseconds without work after which the process ends; without it, never. */
  readonly idle?: number
  /** The most that is sent to the process before it answers. */
  readonly window: WindowLimits
}

/** Outcomes that are handed over in one turn of the event loop. Each lets a request go on, which costs about as much as a small read. */
const outcomesPerTurn = 8

/** After this many failed starts in a row, the waiting jobs fail. */
const maxFailedStarts = 3

/** Processor time is counted for each sender over this many milliseconds, and for no more senders than these. */
const served = { window: 60_000, maxCallers: 10_000 }

/**
 * The queue of jobs of one document process, which it starts. Senders take turns. A job over its budget is killed with the
 * process, and a job that fills the heap crashes it. The jobs that were in flight then go back to the queue, and until all of them
 * are done, a new process gets one job at a time. A job that ends the process while no other job is in it is refused.
 */
export class DocumentQueue {
  readonly #options: QueueOptions
  /** The sender whose jobs took the least processor time in the last minute is next, so that senders of costly documents wait for others. */
  readonly #served = new RateTally(served)
  readonly #waiting: GroupedQueue<Task>
  /** Tasks without an answer yet; the last of them may still be in #outbox. */
  readonly #inFlight: JobWindow<Task>
  #outbox: Task[] = []
  /** Tasks that were in flight when a process ended, and wait or are tried again: one of them may have ended it. */
  readonly #suspects = new Set<Task>()
  /** Outcomes on their way to those who wait for them. */
  readonly #outcomes = new FewPerTurn(outcomesPerTurn)
  #process: DocumentProcess | undefined
  #failedStarts = 0
  readonly #watch: JobWatch
  #idleTimer: NodeJS.Timeout | undefined
  #isFlushing = false

  constructor(options: QueueOptions) {
    this.#options = options
    this.#inFlight = new JobWindow(options.window)
    this.#waiting = new GroupedQueue((sender) => this.#served.look(sender).current)
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
    this.#process ??= this.#startProcess()
    if (!this.#process.isReady) this.#process.keepAlive(true)
    return this.#process.started()
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
    this.#process?.kill()
  }

  #startProcess(): DocumentProcess {
    const started = new DocumentProcess(this.#options, {
      ready: () => this.#begin(),
      finished: (jobs) => this.#receive(jobs),
      ended: (end) => this.#handleEnd(started, end)
    })
    started.keepAlive(this.#inFlight.length > 0)
    return started
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
    this.#process ??= this.#startProcess()
    this.#process.keepAlive(true)
    if (!this.#process.isReady || this.#isFlushing) return
    // An idle process gets its job at once. A busy one gets at least as many as it still has, in one message: jobs that come
    // together are parsed together, and libxml2 compiles the schema once for them.
    const unanswered = this.#inFlight.length - this.#outbox.length
    if (unanswered === 0) this.#flush()
    else if (this.#outbox.length >= unanswered) {
      this.#isFlushing = true
      setImmediate(() => {
        this.#isFlushing = false
        if (this.#process?.isReady) this.#flush()
      })
    }
  }

  /**
   * The next job of the queue. A new document is refused if its sender has used up its rate meanwhile. A document that was read
   * before is not, so that its sender learns where its faults are.
   */
  #takeNext(): Task | undefined {
    for (;;) {
      const task = this.#waiting.take()
      const refusal = task && isFirstReading(task.job) ? task.payer.workRefusal() : undefined
      if (!task || !refusal) return task
      this.#settle(task, refusal)
    }
  }

  /** Charges the sender before the next job is taken from the queue. */
  #settle(task: Task, outcome: JobOutcome): void {
    const cost = this.#costOf(outcome)
    task.payer.chargeWork(cost)
    this.#served.charge(task.sender.name, cost)
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
    this.#process?.send(jobs)
  }

  #begin(): void {
    this.#failedStarts = 0
    if (this.#outbox.length === 0) this.#becomeIdle()
    this.#flush()
  }

  #receive(outcomes: readonly FinishedJob[]): void {
    for (const outcome of outcomes) {
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
    this.#process?.keepAlive(false)
    if (idle !== undefined && this.#process) this.#idleTimer = setTimeout(() => this.#retire(), idle).unref()
  }

  /** Ends the idle process. It is forgotten at once: a job that comes before its end starts another one, and is not lost with it. */
  #retire(): void {
    this.kill()
    this.#process = undefined
  }

  #handleEnd(ended: DocumentProcess, { code, signal, output }: ProcessEnd): void {
    if (this.#process !== ended) return
    const lost = this.#inFlight.takeAll()
    const wasReady = ended.isReady
    this.#process = undefined
    this.#becomeIdle()
    this.#outbox = []
    // A terminal sends Ctrl-C to this process too, which cannot ignore it before its code is loaded.
    const isInterrupted = !wasReady && signal === 'SIGINT'
    if (lost.length > 0 || !(wasReady || isInterrupted)) this.#options.warn({ code, signal, output }, 'the document process ended')
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

  /** Refuses the job that has ended the process. If several jobs were in flight, each is tried again, the likeliest one last. */
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
