import { LRUCache } from 'lru-cache'
import { mostWebhooks } from '../domain/webhook.ts'
import { FairQueue } from '../fairness/fair-queue.ts'

/** Milliseconds. An ordinary chain of certificates takes 1 to 3, and the rest of an answer less. */
const long = 20

/** How long a customer is known as one whose answers take long (`ttl`, milliseconds), and how many can have webhooks. */
const remembered = { ttl: 10_000, max: mostWebhooks.inAll }

/** After a part that took long, the thread is free for so many times as long. A delivery needs several turns of the event loop. */
const pause = 3

interface Part {
  readonly customer: string
  readonly handle: () => void
}

/**
 * Decides when each part of an answer is handled. A part is handled at once, unless the answers of its customer take long. Those customers
 * share one queue: it handles one part at a time, and pauses after it for the deliveries to others. Without the pauses, every turn of the
 * event loop would be as long as their longest part.
 */
export class AnswerTurns {
  readonly #waiting = new FairQueue<Part>()
  /** The customers whose answers take long. */
  readonly #slow = new LRUCache<string, true>(remembered)
  #pausesUntil = 0
  #next: NodeJS.Timeout | undefined

  schedule(customer: string, handle: () => void): void {
    const part = { customer, handle }
    if (this.#slow.has(customer)) {
      this.#waiting.add(customer, part)
      this.#plan()
    } else this.#handle(part)
  }

  #plan(): void {
    if (this.#next || this.#waiting.isEmpty) return
    const handleNext = () => {
      this.#next = undefined
      const part = this.#waiting.take()
      if (part) this.#handle(part)
      this.#plan()
    }
    this.#next = setTimeout(handleNext, Math.max(0, this.#pausesUntil - performance.now()))
  }

  #handle({ customer, handle }: Part): void {
    const begun = performance.now()
    handle()
    const now = performance.now()
    if (now - begun < long) return
    this.#slow.set(customer, true)
    this.#pausesUntil = now + pause * (now - begun)
  }
}
