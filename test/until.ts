import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until a condition about another process is true.
 * @param what the condition in words, which are shown when it is not true after a minute
 */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const note = setTimeout(() => process.stderr.write(`A test still waits until ${what}.\n`), 60_000)
  try {
    while (!(await isSo())) await sleep(20)
  } finally {
    clearTimeout(note)
  }
}
