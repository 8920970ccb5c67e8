import type { Test } from 'tap'

/**
 * Stops the clock that the service reads, `performance.now()`, until the test ends. So nothing in the test depends on how fast the
 * machine is: no minute of a rate limit ends, and no work takes time.
 */
export function stopClock(t: Test) {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  return {
    /** Lets time pass, in milliseconds. */
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    /** From now on the delay of a timer has passed when the timer fires, however late that is. */
    followTimers: () => {
      const { setTimeout } = globalThis
      const start = (run: (...given: unknown[]) => void, delay = 0, ...given: unknown[]) => {
        const end = now + delay
        return setTimeout(() => {
          now = Math.max(now, end)
          run(...given)
        }, delay)
      }
      t.intercept(globalThis, 'setTimeout', { value: start })
    }
  }
}
