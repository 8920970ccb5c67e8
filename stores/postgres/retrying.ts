import { setTimeout as sleep } from 'node:timers/promises'
import { isRace, overloadedWrite } from './failures.ts'

/** The most attempts when a transaction conflicts with others. */
const mostAttempts = 6
/** The delay before the second attempt, in milliseconds. It doubles for each further attempt, and has jitter. */
const firstPause = 5

/** Retries a transaction that conflicts with others. @throws DomainError `store-overloaded` if the last attempt conflicts too */
export async function retrying<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (!isRace(error)) throw error
      if (attempt === mostAttempts) throw overloadedWrite(error)
      await sleep(firstPause * 2 ** (attempt - 1) * (0.5 + Math.random()))
    }
  }
}
