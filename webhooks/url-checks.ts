import { ThreadLost } from '../threads/helper-thread.ts'
import type { SendingThread } from './sending.ts'
import { Turns } from './turns.ts'

export class NotCheckedError extends Error {
  override readonly name = 'NotCheckedError'
}

/** Checks the URLs of webhooks. Customers share the checks that run at once. */
export class UrlChecks {
  readonly #sender: Pick<SendingThread, 'check'>
  readonly #turns: Turns

  /** @param most URLs that are checked at once. A look-up takes up to 25 ms of the sending thread, and seconds if its name server is slow */
  constructor(sender: Pick<SendingThread, 'check'>, most: number) {
    this.#sender = sender
    this.#turns = new Turns(most)
  }

  /**
   * @returns why the URL must not be called, if so
   * @throws NotCheckedError when too many URLs of the customer are being checked, or the sending thread has ended
   */
  async refusal(url: string, customer: string): Promise<string | undefined> {
    if (!this.#turns.mayTake(customer)) throw new NotCheckedError('too many URLs are being checked')
    this.#turns.take(customer)
    try {
      return await this.#sender.check(url)
    } catch (error) {
      throw error instanceof ThreadLost ? new NotCheckedError('the URL was not checked', { cause: error }) : error
    } finally {
      this.#turns.giveBack(customer)
    }
  }
}
