/** The entry of the thread that sends deliveries. */

import type { Attempt } from '../domain/webhook.ts'
import { serve } from '../threads/serve.ts'
import { NotSentError, type Post, Sender } from './sender.ts'
import { TargetError, Targets } from './targets.ts'

export interface SendingData {
  /** The setting WEBHOOK_ALLOW. */
  readonly allow: readonly string[]
  /** The most connections that stay open for a next delivery. */
  readonly mostIdle: number
}

/** A delivery with a number of its own, the number of one that is to end, or a URL to check. */
export type Sending = { readonly number: number; readonly post: Post } | { readonly stop: number } | { readonly check: string }

/** The outcome of a delivery, why it could not be made, or why a URL must not be called. */
export type Sent = Attempt | { readonly notSent: string } | { readonly refusal: string } | undefined

serve(({ allow, mostIdle }: SendingData) => {
  const targets = new Targets(allow)
  const sender = new Sender(targets, mostIdle)
  const running = new Map<number, AbortController>()

  async function answer(sending: Sending): Promise<{ readonly answer: Sent }> {
    if ('stop' in sending) {
      running.get(sending.stop)?.abort()
      return { answer: undefined }
    }
    if ('check' in sending) return { answer: await refusalOf(sending.check) }
    const { number, post } = sending
    const stop = new AbortController()
    running.set(number, stop)
    try {
      return { answer: await sender.post(post, stop.signal) }
    } catch (error) {
      if (error instanceof NotSentError) return { answer: { notSent: error.message } }
      throw error
    } finally {
      running.delete(number)
    }
  }

  async function refusalOf(url: string): Promise<Sent> {
    try {
      await targets.check(url)
      return undefined
    } catch (error) {
      if (error instanceof TargetError) return { refusal: error.message }
      throw error
    }
  }

  return { answer, close: () => sender.close() }
})
