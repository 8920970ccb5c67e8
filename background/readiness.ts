import type { Store } from '../domain/store.ts'

/** Milliseconds. */
const pingTimeout = 2_000

type Pinged = Pick<Store, 'ping'>

/** The checks in progress. */
const reaching = new WeakMap<Pinged, Promise<void>>()

/**
 * Resolves when the database answers. Requests for health and metrics have no rate limit, so all of them share the check in progress.
 * @throws Error when it does not answer in time, or the database's own error
 */
export function reach(store: Pinged): Promise<void> {
  const known = reaching.get(store)
  if (known) return known
  const reached = ping(store).finally(() => reaching.delete(store))
  reaching.set(store, reached)
  return reached
}

async function ping(store: Pinged): Promise<void> {
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
