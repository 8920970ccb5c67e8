import type { Test } from 'tap'
import { parses } from '../domain/deferred.ts'

/** The lengths of the texts that this thread parses from now on, until the test ends. */
export function watchParses(t: Test): readonly unknown[] {
  const parsed: unknown[] = []
  const listen = (length: unknown) => parsed.push(length)
  parses.subscribe(listen)
  t.teardown(() => parses.unsubscribe(listen))
  return parsed
}
