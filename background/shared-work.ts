import { setTimeout as sleep } from 'node:timers/promises'

/** The rest after some work: so many times as long as the work took, but no longer than the milliseconds. */
const rest = { perWork: 20, most: 1_000 } as const

/**
 * Shares work among all who ask for it, where they have no rate limit. Whoever asks gets a result of work that began later, so it is
 * never old. The work runs once at a time, with a rest after it: however many ask, short work takes a twentieth of the time.
 */
export function shareWork<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let restsUntil = 0
  let next: Promise<Result> | undefined

  async function workNext(): Promise<Result> {
    await running.catch(() => {})
    await sleep(Math.max(0, restsUntil - performance.now()))
    next = undefined
    const begun = performance.now()
    const result = work().finally(() => {
      const end = performance.now()
      restsUntil = end + Math.min(rest.most, rest.perWork * (end - begun))
    })
    running = result
    return result
  }

  return () => (next ??= workNext())
}
