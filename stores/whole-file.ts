import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a file that appears under its name only when it is complete and on disk.
 * @param write writes the content to the path that it gets
 * @param publish gives the complete file its name; by default it replaces a file of that name
 */
export async function writeWhole(
  file: string,
  write: (partial: string) => Promise<void> | void,
  publish: (partial: string, file: string) => void = renameSync
): Promise<void> {
  // The name is random, so that two writers of one file do not collide.
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    await write(partial)
    sync(partial)
    publish(partial, file)
    // Writes the new name to disk.
    sync(dirname(file))
  } finally {
    rmSync(partial, { force: true })
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
