import { setTimeout as sleep } from 'node:timers/promises'

/** The rest after some work: `perWork` times as long as the work took, but at most `most` milliseconds. */
const rest = { perWork: 20, most: 1_000 } as const

/**
 * Shares work among all who ask for its result and have no rate limit. The work begins after they have asked, so the result is
 * never old. The work runs once at a time, with a rest after it: however many ask, short work takes a twentieth of the time.
 * @param pause resolves after so many milliseconds
 */
export function shareWork<Result>(
  work: () => Promise<Result>,
  pause: (milliseconds: number) => Promise<void> = sleep
): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let restsUntil = 0
  let next: Promise<Result> | undefined

  async function workNext(): Promise<Result> {
    await running.catch(() => {})
    await pause(Math.max(0, restsUntil - performance.now()))
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
