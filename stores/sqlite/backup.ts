import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { connectReader, databasePath } from './connection.ts'

/**
 * Writes a consistent copy of a database that may be in use, as one file that is complete or not there. A store opens it
 * as any other: restoring is putting it in the place of the database, and removing the old `-wal` and `-shm` beside it,
 * while nothing has it open.
 * @throws Error when the target exists; SqliteError when the database cannot be read, or the copy not be written
 */
export function backupSqlite(path: string, target: string): void {
  const file = databasePath(target)
  if (existsSync(file)) throw new Error(exists(target))
  const partial = makePartial(file)
  try {
    copy(path, partial)
    sync(partial)
    place(partial, file, target)
    sync(dirname(file))
  } finally {
    rmSync(partial, { force: true })
  }
}

const exists = (target: string) => `${target} exists: a backup never overwrites`

/** Beside the file, of a name that no other backup has; empty, as SQLite wants it. */
function makePartial(file: string): string {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  closeSync(openSync(partial, 'wx', 0o644))
  return partial
}

function copy(path: string, partial: string): void {
  const db = connectReader(path)
  try {
    // One read transaction, however long it takes; the backup API would begin again at every commit of another process.
    db.prepare('VACUUM INTO ?').run(partial)
  } finally {
    db.close()
  }
}

/** What file systems and systems answer that have no hard links: link(2), and those that leave it out. */
const withoutLinks = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK'])

/** A link, unlike a rename, never takes the place of another file. */
function place(partial: string, file: string, target: string): void {
  try {
    linkSync(partial, file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EEXIST' || existsSync(file)) throw new Error(exists(target))
    if (!withoutLinks.has(code)) throw error
    renameSync(partial, file)
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
