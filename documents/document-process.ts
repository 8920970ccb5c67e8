import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../config.ts'
import { entryModule } from '../files.ts'
import { lowerPriority } from '../priority.ts'
import type { FinishedJob, FromProcess, ToProcess } from './job.ts'
import { receiveMessages, sendMessage } from './messages.ts'

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
  readonly #channel: Socket | undefined
  readonly #started: Promise<unknown>
  #isReady = false

  constructor({ semiSpace, growth, niceness, warn }: ProcessOptions, events: ProcessEvents) {
    const flags = [`--max-old-space-size=${heapSize}`, ...(semiSpace === undefined ? [] : [`--max-semi-space-size=${semiSpace}`])]
    const child = spawn(process.execPath, [...flags, entry, ...(growth === undefined ? [] : [String(growth)])], {
      // glibc gives blocks of this size or more back to the system when they are freed. By itself it would soon keep blocks of up to 32 MiB.
      env: { MALLOC_MMAP_THRESHOLD_: '131072', ...processEnvironment() },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe']
    })
    let output = ''
    child.on('error', (error) => {
      warn({ err: error }, 'the document process could not be started')
      if (child.pid === undefined) events.ended({ code: null, signal: null, output })
    })
    child.once('close', (code, signal) => events.ended({ code, signal, output }))
    // Without a free descriptor, Node makes no sockets (`ChildProcess.spawn` at EMFILE).
    const [, , stderr, channel] = (child.stdio ?? []) as (Socket | undefined)[]
    stderr?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-maxOutput)))
    stderr?.unref()
    const ready = new Promise<void>((resolve) => {
      if (!channel) return
      receiveMessages(channel, (message: FromProcess) => {
        if (message !== 'ready') {
          events.finished(message)
          return
        }
        this.#isReady = true
        if (child.pid !== undefined) lowerPriority(child.pid, niceness)
        events.ready()
        resolve()
      })
    })
    // Messages to a process that has ended are lost, and `ended` is called.
    channel?.on('error', () => undefined)
    this.#child = child
    this.#channel = channel
    this.#started = Promise.race([ready, ...['error', 'close'].map((event) => new Promise((resolve) => child.once(event, resolve)))])
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether it can take jobs. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves when it is ready or could not be started. */
  async started(): Promise<void> {
    await this.#started
  }

  send(jobs: ToProcess): void {
    if (this.#channel) sendMessage(this.#channel, jobs)
  }

  /** Lets it keep the service's process alive only while it is busy. */
  keepAlive(isBusy: boolean): void {
    for (const handle of [this.#child, this.#channel]) {
      if (isBusy) handle?.ref()
      else handle?.unref()
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
