import type { Store } from '../domain/store.ts'

/** Milliseconds. */
const pingTimeout = 2_000

/** Resolves when the database answers. @throws Error when it does not answer in time, or the database's own error */
export async function reach(store: Pick<Store, 'ping'>): Promise<void> {
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
