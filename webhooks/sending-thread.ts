/** The entry of the thread that sends deliveries. */

import type { Attempt } from '../domain/webhook.ts'
import { serve } from '../threads/serve.ts'
import { type Post, Sender } from './sender.ts'
import { Targets } from './targets.ts'

export interface SendingData {
  /** The setting WEBHOOK_ALLOW. */
  readonly allow: readonly string[]
}

/** A delivery with a number of its own, or the number of one that is to end. */
export type Sending = { readonly number: number; readonly post: Post } | { readonly stop: number }

serve(({ allow }: SendingData) => {
  const sender = new Sender(new Targets(allow))
  const running = new Map<number, AbortController>()

  async function answer(sending: Sending): Promise<{ readonly answer: Attempt | undefined }> {
    if ('stop' in sending) {
      running.get(sending.stop)?.abort()
      return { answer: undefined }
    }
    const { number, post } = sending
    const stop = new AbortController()
    running.set(number, stop)
    try {
      return { answer: await sender.post(post, stop.signal) }
    } finally {
      running.delete(number)
    }
  }

  return { answer, close: () => sender.close() }
})
