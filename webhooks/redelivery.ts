import type { EventHead } from '../domain/event.ts'
import type { Attempt, WebhookTarget } from '../domain/webhook.ts'
import type { Dispatcher } from './dispatcher.ts'
import { withSignal } from './with-signal.ts'

export class NotSentError extends Error {
  override readonly name = 'NotSentError'
}

/** Milliseconds in which the event must be written. The POST has a limit of its own. */
const writingTime = 10_000

/**
 * Sends an event once, on demand.
 * @param client ends the wait for memory and for the document process
 * @returns undefined if the event is not kept any more
 * @throws NotSentError when its turn does not come in time
 */
export async function sendAgain(
  dispatcher: Pick<Dispatcher, 'attempt'>,
  webhook: WebhookTarget,
  event: EventHead,
  client: AbortSignal,
  wait = writingTime
): Promise<Attempt | undefined> {
  const sent = await withSignal([client, AbortSignal.timeout(wait)], (end) =>
    dispatcher.attempt(webhook, event, end).catch((error) => {
      throw end.aborted ? new NotSentError('the event had no turn in time') : error
    })
  )
  return typeof sent === 'string' ? undefined : sent
}
