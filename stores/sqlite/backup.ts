import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
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
  if (existsSync(file)) throw new Error(`${target} exists: a backup never overwrites`)
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  const db = connectReader(path)
  try {
    // One read transaction, however long it takes; the backup API would begin again at every commit of another process.
    db.prepare('VACUUM INTO ?').run(partial)
    sync(partial)
    renameSync(partial, file)
    sync(dirname(file))
  } finally {
    db.close()
    rmSync(partial, { force: true })
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
