import type { EventHead } from '../domain/event.ts'
import type { Attempt, WebhookTarget } from '../domain/webhook.ts'
import { ThreadLost } from '../threads/helper-thread.ts'
import type { Dispatcher } from './dispatcher.ts'
import { NotSentError } from './sender.ts'
import { Turns } from './turns.ts'
import { withSignal } from './with-signal.ts'

/** Milliseconds in which the event must be written. The POST has a limit of its own. */
const writingTime = 10_000

/** Sends events again, on demand. */
export class Redelivery {
  readonly #dispatcher: Pick<Dispatcher, 'attempt' | 'isStopping'>
  readonly #turns: Turns

  /**
   * @param most events that are sent again at once. Each has a connection of its own, which takes the sending thread 1 to 2 ms to make and up
   * to 100 KB of memory, and the requests of a customer with many keys have no other limit
   */
  constructor(dispatcher: Pick<Dispatcher, 'attempt' | 'isStopping'>, most: number) {
    this.#dispatcher = dispatcher
    this.#turns = new Turns(most)
  }

  /**
   * Sends an event once.
   * @param client ends the wait for memory and for the document process
   * @returns undefined if the event is not kept any more
   * @throws NotSentError when its customer has too many under way, its turn does not come in time, or the shop stops before it
   */
  async send(webhook: WebhookTarget, event: EventHead, client: AbortSignal, wait = writingTime): Promise<Attempt | undefined> {
    const { customer } = webhook
    if (!this.#turns.mayTake(customer)) throw new NotSentError('too many events are being sent again')
    this.#turns.take(customer)
    try {
      const sent = await withSignal([client, AbortSignal.timeout(wait)], (end) =>
        this.#dispatcher.attempt(webhook, event, end).catch((error) => {
          const maySent = error instanceof ThreadLost && error.wasAsked
          throw !maySent && (end.aborted || this.#dispatcher.isStopping) ? new NotSentError('the event was not sent') : error
        })
      )
      return typeof sent === 'string' ? undefined : sent
    } finally {
      this.#turns.giveBack(customer)
    }
  }
}
