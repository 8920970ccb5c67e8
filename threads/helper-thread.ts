import type { Worker } from 'node:worker_threads'
import { returnThread, type ThreadEntry, takeThread } from './idle-threads.ts'
import type { FromThread, ToThread } from './serve.ts'

/** The thread has ended or could not start, so a request has no answer. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
  /** Whether the request had been sent, so that the thread may have carried it out. */
  readonly wasAsked: boolean

  constructor(wasAsked: boolean, cause?: unknown) {
    super('a helper thread has ended', cause === undefined ? undefined : { cause })
    this.wasAsked = wasAsked
  }
}

interface PendingAnswer<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: ThreadLost) => void
}

/** The delay before a restart, in milliseconds. The first restart is immediate; then the delay doubles, from `first` to `last`. */
const backOff = { first: 50, last: 2_000 } as const

/**
 * A thread beside the serving one that answers requests, with what it has opened: a database, or connections. `open` starts it, or else
 * the first request. When the thread dies, its pending requests are rejected with ThreadLost. After `open`, a new thread starts by itself;
 * otherwise the next request starts it.
 */
export class HelperThread<Data, Input, Answer> {
  readonly #entry: ThreadEntry
  readonly #data: Data
  readonly #waiting = new Map<number, PendingAnswer<Answer>>()
  readonly #pending = new Set<Promise<Answer>>()
  #ids = 0
  #thread: Worker | undefined
  #opened: Promise<void> | undefined
  #restartsItself = false
  #delay = 0
  #restart: NodeJS.Timeout | undefined
  #closed: (() => void) | undefined
  #closing: Promise<void> | undefined

  /** @param entry code that calls `serve` */
  constructor(entry: ThreadEntry, data: Data) {
    this.#entry = entry
    this.#data = data
  }

  /** Resolves when the thread is open. From then on, a thread that dies is replaced. @throws ThreadLost */
  async open(): Promise<void> {
    await this.#start()
    this.#restartsItself = true
  }

  get isUp(): boolean {
    return this.#thread !== undefined
  }

  /** @throws ThreadLost; Error if the input cannot be sent to a thread */
  ask(input: Input): Promise<Answer> {
    if (this.#closing || this.#restart) return Promise.reject(new ThreadLost(false))
    const answer = this.#ask(input).finally(() => this.#pending.delete(answer))
    this.#pending.add(answer)
    return answer
  }

  /** Waits for the answers to all requests, then closes what the thread has opened. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Ends the thread at once, like a crash. */
  async kill(): Promise<void> {
    await this.#thread?.terminate()
  }

  async #ask(input: Input): Promise<Answer> {
    await (this.#opened ?? this.#start())
    return new Promise<Answer>((resolve, reject) => {
      const id = this.#ids++
      this.#send({ id, ask: input })
      this.#waiting.set(id, { resolve, reject })
    })
  }

  #send(message: ToThread<Data, Input>): void {
    if (!this.#thread) throw new ThreadLost(false)
    this.#thread.postMessage(message)
  }

  async #close(): Promise<void> {
    clearTimeout(this.#restart)
    await Promise.allSettled(this.#pending)
    if (!this.#thread) return
    const closed = new Promise<void>((resolve) => (this.#closed = resolve))
    this.#send('close')
    await closed
  }

  #start(): Promise<void> {
    const thread = takeThread(this.#entry)
    this.#thread = thread
    this.#opened = new Promise((resolve, reject) => {
      let cause: unknown
      thread.on('message', (message: FromThread<Answer>) => {
        if (message === 'opened') resolve()
        else if (message === 'closed') this.#release(thread)
        else this.#answer(message)
      })
      thread.on('error', (error) => (cause = error))
      thread.on('exit', () => {
        reject(new ThreadLost(false, cause))
        this.#lose(cause)
        if (this.#restartsItself && !this.#closing) this.#startLater()
      })
    })
    this.#send({ open: this.#data })
    return this.#opened
  }

  #startLater(): void {
    this.#restart = setTimeout(() => {
      this.#restart = undefined
      // If the thread fails to start, its exit event schedules the next restart.
      this.#start().catch(() => {})
    }, this.#delay)
    this.#delay = Math.min(Math.max(this.#delay * 2, backOff.first), backOff.last)
  }

  #answer({ id, answer }: { readonly id: number; readonly answer: Answer }): void {
    this.#delay = 0
    this.#waiting.get(id)?.resolve(answer)
    this.#waiting.delete(id)
  }

  #release(thread: Worker): void {
    returnThread(this.#entry, thread)
    this.#lose()
  }

  #lose(cause?: unknown): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#thread = undefined
    this.#opened = undefined
    for (const { reject } of waiting) reject(new ThreadLost(true, cause))
    this.#closed?.()
  }
}
