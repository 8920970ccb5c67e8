/** Decides what follows from an attempt to deliver an event. */

import { type Attempt, isDelivered } from './webhook.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** Milliseconds from each failed attempt to the next. Together they are over three days. */
export const delays: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour
]

/** The longest wait that a receiver can ask for with Retry-After, in milliseconds. */
const longestWait = 24 * hour

/** The most that chance adds to a delay, as a fraction of it. It spreads the attempts after the shop was down. */
const jitter = 0.1

export type NextStep =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly in: number; readonly failures: number }
  | { readonly kind: 'disable'; readonly reason: string }

/** A webhook whose key was revoked or has expired delivers nothing. */
export const withoutKey = {
  kind: 'disable',
  reason: 'The key that made the webhook was revoked or has expired.'
} as const satisfies NextStep

/**
 * @param attempt the number of the attempt, from 1
 * @param random a number from 0 to 1
 */
export function nextStep(attempt: number, outcome: Attempt, random = Math.random()): NextStep {
  const { status, retryAfter = 0 } = outcome
  if (isDelivered(outcome)) return { kind: 'delivered' }
  if (status === 410) return { kind: 'disable', reason: 'The receiver answered 410 Gone.' }
  const delay = delays[attempt - 1]
  if (delay === undefined) return { kind: 'disable', reason: `An event could not be delivered in ${attempt} attempts.` }
  const wait = Math.max(delay, Math.min(retryAfter, longestWait))
  return { kind: 'retry', in: Math.round(wait * (1 + jitter * random)), failures: attempt }
}
