import type { Worker } from 'node:worker_threads'
import type { FromThread, ToThread } from './thread-entry.ts'
import { returnThread, takeThread } from './threads.ts'

/** There is no thread to ask, or none any more. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost'
  /** Whether the thread had been asked by then, and may have done what it was asked for. */
  readonly wasAsked: boolean

  constructor(wasAsked: boolean, cause?: unknown) {
    super('the thread of the database has ended', cause === undefined ? undefined : { cause })
    this.wasAsked = wasAsked
  }
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: ThreadLost) => void
}

/** Milliseconds between attempts to start a thread after the first, doubled from one to the next. */
const backOff = { first: 50, last: 2_000 } as const

/**
 * A thread that has a database open, and answers what it is asked. It starts when it is opened, or first asked. When it
 * dies, what it was asked is rejected with ThreadLost, and another takes its place: at once when it was opened, else when
 * somebody asks again.
 */
export class DatabaseThread<Data, Asked, Answer> {
  readonly #entry: URL
  readonly #data: Data
  readonly #waiting = new Map<number, Waiting<Answer>>()
  readonly #asking = new Set<Promise<Answer>>()
  #ids = 0
  #thread: Worker | undefined
  #opened: Promise<void> | undefined
  #isKept = false
  #delay = 0
  #restart: NodeJS.Timeout | undefined
  #closed: (() => void) | undefined
  #closing: Promise<void> | undefined

  /** @param entry a module that calls `serve` */
  constructor(entry: URL, data: Data) {
    this.#entry = entry
    this.#data = data
  }

  /** Resolves when a thread has the database open; from then on there always is one. @throws ThreadLost */
  async open(): Promise<void> {
    await this.#start()
    this.#isKept = true
  }

  get isUp(): boolean {
    return this.#thread !== undefined
  }

  /** @throws ThreadLost, and Error when something cannot be sent to a thread */
  ask(asked: Asked): Promise<Answer> {
    if (this.#closing || this.#restart) return Promise.reject(new ThreadLost(false))
    const answer = this.#ask(asked).finally(() => this.#asking.delete(answer))
    this.#asking.add(answer)
    return answer
  }

  /** Closes the database when all that was asked is answered. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Ends the thread where it stands, as a crash would: for tests. */
  async kill(): Promise<void> {
    await this.#thread?.terminate()
  }

  async #ask(asked: Asked): Promise<Answer> {
    await (this.#opened ?? this.#start())
    return new Promise<Answer>((resolve, reject) => {
      const id = this.#ids++
      this.#send({ id, ask: asked })
      this.#waiting.set(id, { resolve, reject })
    })
  }

  #send(message: ToThread<Data, Asked>): void {
    if (!this.#thread) throw new ThreadLost(false)
    this.#thread.postMessage(message)
  }

  async #close(): Promise<void> {
    clearTimeout(this.#restart)
    await Promise.allSettled(this.#asking)
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
        if (this.#isKept && !this.#closing) this.#startLater()
      })
    })
    this.#send({ open: this.#data })
    return this.#opened
  }

  #startLater(): void {
    this.#restart = setTimeout(() => {
      this.#restart = undefined
      // One that dies is followed by another, later.
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
