import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Connection, connectReader, databasePath } from './connection.ts'
import { explain, openError } from './explain.ts'
import { makeNewFile, refuseForeign } from './file.ts'

/**
 * Writes a consistent copy of a database that may be in use, as one file that is complete or not there. A store opens it
 * as any other: restoring is putting it in the place of the database, and removing the old `-wal` and `-shm` beside it,
 * while nothing has it open. Only this user may read it.
 * @throws StoreOpenError when the database cannot be read; Error when the target exists, or cannot be written
 */
export function backupSqlite(path: string, target: string): void {
  const file = databasePath(target)
  if (existsSync(file)) throw new Error(exists(target))
  const db = connect(path)
  // Of a name that no other backup has.
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    // Made empty first, since SQLite would let everybody read it.
    makeNewFile(partial)
    copy(db, partial)
    sync(partial)
    place(partial, file, target)
    sync(dirname(file))
  } catch (error) {
    throw failure(error, path, file)
  } finally {
    db.close()
    rmSync(partial, { force: true })
  }
}

function connect(path: string): Connection {
  try {
    refuseForeign(databasePath(path))
    return connectReader(path)
  } catch (error) {
    throw openError(error, databasePath(path))
  }
}

/** What keeps a copy from being written; all else that SQLite says is about the database that is read. */
const ofTarget = /^(E[A-Z]+|SQLITE_(FULL|READONLY|CANTOPEN|IOERR_(WRITE|FSYNC|TRUNCATE))(_.*)?|SQLITE_IOERR)$/

function failure(error: unknown, path: string, file: string): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  if (!ofTarget.test(String(error.code))) return openError(error, databasePath(path))
  return new Error(explain(error, file) ?? `${file} cannot be written: ${error.message}`)
}

const exists = (target: string) => `${target} exists: a backup never overwrites`

function copy(db: Connection, partial: string): void {
  // One read transaction, however long it takes; the backup API would begin again at every commit of another process.
  db.prepare('VACUUM INTO ?').run(partial)
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
