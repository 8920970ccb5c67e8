import type { Store } from '../domain/store.ts'

/** Milliseconds. */
const pingTimeout = 2_000

type Reachable = Pick<Store, 'ping'>

/** The checks in progress. */
const checks = new WeakMap<Reachable, Promise<void>>()

/**
 * Resolves when the database answers. Requests for health and metrics have no rate limit, so all of them share the check in progress.
 * @throws Error when it does not answer in time, or the database's own error
 */
export function reach(store: Reachable): Promise<void> {
  const known = checks.get(store)
  if (known) return known
  const check = ping(store).finally(() => checks.delete(store))
  checks.set(store, check)
  return check
}

async function ping(store: Reachable): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not answer within ${pingTimeout} ms`)), pingTimeout)
  })
  try {
    await Promise.race([store.ping(), late])
  } finally {
    clearTimeout(timer)
  }
}
