import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A folder in memory, if the system has one with so much room. @param gibibytes the room that is needed */
export function folderInMemory(gibibytes: number): string | undefined {
  const folder = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= gibibytes * 2 ** 30 ? folder : undefined
  } catch {
    return undefined
  }
}

/**
 * A new folder for a database, which goes with the test. It is in memory if it can be: a third of the time of the tests is waiting
 * for the disk, and what a test looks at never outlives the machine.
 */
export function databaseFolder(t: Test): string {
  const memory = folderInMemory(1)
  if (memory === undefined) return t.testdir({})
  const folder = mkdtempSync(join(memory, 'tradepost-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
