import type { Test } from 'tap'

/** Gives a property another value until the test ends. `t.intercept` would keep the stack of each access, of which there are many. */
export function replace<Owner extends object, Name extends keyof Owner>(t: Test, owner: Owner, name: Name, value: Owner[Name]): void {
  const before = Object.getOwnPropertyDescriptor(owner, name)
  t.teardown(() => (before ? Object.defineProperty(owner, name, before) : delete owner[name]))
  Object.defineProperty(owner, name, { ...before, value, configurable: true })
}

/**
 * Stops the clock that the service reads, `performance.now()`, until the test ends. So nothing in the test depends on how fast the
 * machine is: no minute of a rate limit ends, and no work takes time.
 */
export function stopClock(t: Test) {
  let now = 0
  replace(t, performance, 'now', () => now)
  return {
    /** Lets time pass, in milliseconds. */
    pass: (milliseconds: number) => {
      now += milliseconds
    },
    /**
     * From now on the delay of a timer has passed when the timer fires, however late that is. Timers that do not keep the process alive
     * are not followed: they look at something again and again, and with them the clock would go as fast as any other.
     */
    followTimers: () => {
      const { setTimeout } = globalThis
      const start = (run: (...given: unknown[]) => void, delay = 0, ...given: unknown[]) => {
        const end = now + delay
        const timer = setTimeout(() => {
          if (timer.hasRef()) now = Math.max(now, end)
          run(...given)
        }, delay)
        return timer
      }
      replace(t, globalThis, 'setTimeout', start as typeof setTimeout)
    }
  }
}
