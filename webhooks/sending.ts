import type { Attempt } from '../domain/webhook.ts'
import { entryCode } from '../files.ts'
import { HelperThread } from '../threads/helper-thread.ts'
import { NotSentError, type Post, stopped } from './sender.ts'
import type { Sending, SendingData, Sent } from './sending-thread.ts'

const entry = entryCode('webhooks/sending-thread')

/** Milliseconds that the thread has to close. Then it is ended: a receiver may keep it busy. */
const closing = 250

/**
 * Sends deliveries in a thread of their own, because their receivers decide how long TLS takes. OpenSSL verifies a chain of certificates
 * in one go, for up to 0.4 s, and encrypts an order of 10 MB in one go. The first delivery or check starts it. It is replaced when it dies.
 */
export class SendingThread {
  readonly #thread: HelperThread<SendingData, Sending, Sent>
  #count = 0

  constructor(data: SendingData) {
    this.#thread = new HelperThread(entry, data)
  }

  /**
   * Makes an attempt. One that fails is an outcome, too.
   * @param stop ends the attempt early
   * @throws ThreadLost, NotSentError if the shop itself cannot make it
   */
  post(post: Post, stop: AbortSignal): Promise<Attempt> {
    const number = this.#count++
    // This method does not wait, because it would keep the body until then. The thread has a copy.
    return this.#outcome(number, stop.aborted ? undefined : this.#thread.ask({ number, post }), stop)
  }

  /**
   * Checks a URL and the present addresses of its host. A URL passes if its host cannot be looked up now. The check runs in this thread,
   * because the owner of a name decides how long its name server's answer is.
   * @returns why the URL must not be called, if so
   * @throws ThreadLost if it cannot be checked
   */
  async check(url: string): Promise<string | undefined> {
    const sent = await this.#thread.ask({ check: url })
    return sent && 'refusal' in sent ? sent.refusal : undefined
  }

  async #outcome(number: number, asked: Promise<Sent> | undefined, stop: AbortSignal): Promise<Attempt> {
    const [at, begun] = [Date.now(), performance.now()]
    const ended = (): Attempt => ({ at, durationMs: Math.round(performance.now() - begun), failure: stopped })
    if (!asked) return ended()
    let end = () => {}
    const stopping = new Promise<undefined>((resolve) => (end = () => resolve(undefined)))
    stop.addEventListener('abort', end)
    try {
      const attempt = await Promise.race([asked, stopping])
      if (attempt && 'at' in attempt) return attempt
      if (attempt && 'notSent' in attempt) throw new NotSentError(attempt.notSent)
      void this.#thread.ask({ stop: number }).catch(() => {})
      return ended()
    } finally {
      stop.removeEventListener('abort', end)
    }
  }

  /** Closes all connections at once. */
  async close(): Promise<void> {
    const timer = setTimeout(() => void this.#thread.kill(), closing)
    await this.#thread.close()
    clearTimeout(timer)
  }
}
