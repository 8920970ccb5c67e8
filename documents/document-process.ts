import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../config.ts'
import { entryModule } from '../files.ts'
import { lowerPriority } from '../priority.ts'
import type { FinishedJob, FromProcess, ToProcess } from './job.ts'

export interface ProcessOptions {
  /** MiB of each half of the heap's young generation, if not the default. Less takes less memory, and more processor time. */
  readonly semiSpace?: number
  /** MiB by which the heap may grow until garbage is collected after a job. By itself V8 collects it only when it needs the room. */
  readonly growth?: number
  /** Added to the process's niceness, so that it yields to the thread that serves. */
  readonly niceness: number
  /** Logs a warning for the operator: the process ended, or a job failed because of a bug. */
  readonly warn: (details: object, message: string) => void
}

/** How a process has ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** The end of what it has written on its standard error. */
  readonly output: string
}

export interface ProcessEvents {
  /** It can take jobs. */
  ready(): void
  /** Outcomes of jobs, in the order in which the jobs were sent. */
  finished(jobs: readonly FinishedJob[]): void
  /** It has ended, or could not be started. */
  ended(end: ProcessEnd): void
}

const entry = fileURLToPath(entryModule('documents/process'))

/** The heap limit of the process in MiB: several times the need of one document of 2 MiB. */
const heapSize = 256

/** Characters of the process's standard error that are kept for the log. */
const maxOutput = 2_000

/** A document process that was started. See `process.ts` for what runs in it. */
export class DocumentProcess {
  readonly #child: ChildProcess
  #isReady = false
  #output = ''

  constructor({ semiSpace, growth, niceness, warn }: ProcessOptions, events: ProcessEvents) {
    this.#child = fork(entry, growth === undefined ? [] : [String(growth)], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${heapSize}`, ...(semiSpace === undefined ? [] : [`--max-semi-space-size=${semiSpace}`])],
      // glibc gives blocks of this size or more back to the system when they are freed. By itself it would soon keep blocks of up to 32 MiB.
      env: { MALLOC_MMAP_THRESHOLD_: '131072', ...processEnvironment() },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    })
    const { stderr } = this.#child
    stderr?.on('data', (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-maxOutput)))
    if (stderr && 'unref' in stderr) (stderr as { unref(): void }).unref()
    this.#child.on('message', (message: FromProcess) => {
      if (message !== 'ready') {
        events.finished(message)
        return
      }
      this.#isReady = true
      if (this.pid !== undefined) lowerPriority(this.pid, niceness)
      events.ready()
    })
    this.#child.on('error', (error) => {
      warn({ err: error }, 'the document process could not be started')
      if (this.pid === undefined) events.ended({ code: null, signal: null, output: this.#output })
    })
    this.#child.once('close', (code, signal) => events.ended({ code, signal, output: this.#output }))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether it can take jobs. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves when it is ready or could not be started. */
  started(): Promise<void> {
    if (this.#isReady) return Promise.resolve()
    return new Promise((resolve) => {
      for (const event of ['message', 'error', 'close']) this.#child.once(event, () => resolve())
    })
  }

  /** The error of a failed send is ignored: the process has ended, and `ended` is called. */
  send(jobs: ToProcess): void {
    this.#child.send(jobs, () => undefined)
  }

  /** Lets it keep the service's process alive only while it is busy. */
  keepAlive(isBusy: boolean): void {
    for (const handle of [this.#child, this.#child.channel]) {
      if (isBusy) handle?.ref()
      else handle?.unref()
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
