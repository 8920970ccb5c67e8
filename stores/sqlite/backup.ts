import { existsSync, linkSync, renameSync } from 'node:fs'
import { diskReason } from '../disk.ts'
import { writeWhole } from '../whole-file.ts'
import { type Connection, connectReader, databasePath } from './connection.ts'
import { explain, openError } from './explain.ts'
import { makeNewFile, refuseForeign } from './file.ts'

/**
 * Writes a consistent copy of a database that may be in use. The copy is one file, which appears only when it is complete and
 * which only this user may read. To restore it, close the database, replace its file by the copy, and remove the old `-wal`
 * and `-shm` files.
 * @throws StoreOpenError if the database cannot be read; Error if the target exists or cannot be written
 */
export async function backupSqlite(path: string, target: string): Promise<void> {
  const file = databasePath(target)
  if (existsSync(file)) throw new Error(exists(target))
  const db = connect(path)
  const write = (partial: string) => {
    // SQLite would make a file that everybody may read.
    makeNewFile(partial)
    // This is one read transaction. The backup API would start again at every commit of another process.
    db.prepare('VACUUM INTO ?').run(partial)
  }
  try {
    await writeWhole(file, write, (partial) => place(partial, file, target))
  } catch (error) {
    throw failure(error, path, file)
  } finally {
    db.close()
  }
}

function connect(path: string): Connection {
  try {
    refuseForeign(databasePath(path), 'read')
    return connectReader(path)
  } catch (error) {
    throw openError(error, databasePath(path))
  }
}

/** The codes of errors about the copy. All other errors of SQLite are about the database that is read. */
const targetErrors = /^(E[A-Z]+|SQLITE_(FULL|READONLY|CANTOPEN|IOERR_(WRITE|FSYNC|TRUNCATE))(_.*)?|SQLITE_IOERR)$/

function failure(error: unknown, path: string, file: string): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  if (!targetErrors.test(String(error.code))) return openError(error, databasePath(path))
  const reason = diskReason(error)
  if (reason !== undefined) return new Error(`${file} cannot be written: ${reason}`)
  return new Error(explain(error, file) ?? `${file} cannot be written: ${error.message}`)
}

const exists = (target: string) => `${target} exists: a backup never overwrites anything; choose another name`

/** The errors of link(2) on a file system or an operating system without hard links. */
const linkErrors = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK'])

/** Gives the copy its final name. Unlike a rename, a hard link never replaces another file. */
function place(partial: string, file: string, target: string): void {
  try {
    linkSync(partial, file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EEXIST' || existsSync(file)) throw new Error(exists(target))
    if (!linkErrors.has(code)) throw error
    renameSync(partial, file)
  }
}
