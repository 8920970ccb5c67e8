import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'

/** Names a Tradepost database in its file header (PRAGMA application_id): the bytes of "trdp". */
export const applicationId = 0x74726470

const busyTimeout = { reader: 1_000, writer: 5_000 } as const

/** Resolved, because SQLite would read a path that begins with `file:` as a URI. */
export function databasePath(path: string): string {
  return resolve(path)
}

/** Which file a path names now. @throws Error when it names none */
export function fileIdentity(path: string): string {
  const { dev, ino } = statSync(databasePath(path))
  return `${dev}:${ino}`
}

/**
 * A connection holds on to a file that was moved or removed, and what is written to it then is lost with it.
 * @throws Error, with the code of SQLite for this, when the path does not name the same file any more
 */
export function checkFile(path: string, identity: string): void {
  if (fileIdentity(path) === identity) return
  throw new Database.SqliteError(`${path} is another file than the one that was opened`, 'SQLITE_READONLY_DBMOVED')
}

/** A connection that cannot write: every write goes through the one writer. Waits up to a second for a lock. */
export function connectReader(path: string): Database.Database {
  const db = new Database(databasePath(path), { readonly: true, fileMustExist: true, timeout: busyTimeout.reader })
  db.pragma('cache_size = -32768')
  return db
}

/** A connection that writes; the file must be there. Waits up to five seconds for another process's transaction. */
export function connectWriter(path: string): Database.Database {
  const db = new Database(databasePath(path), { fileMustExist: true, timeout: busyTimeout.writer })
  // FULL, because better-sqlite3 is built with NORMAL for WAL, which may lose the last commits when the power goes
  // (https://sqlite.org/pragma.html#pragma_synchronous).
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma('cache_size = -65536')
  db.pragma('journal_size_limit = 67108864')
  return db
}

/**
 * Makes the file, and its directory, where there is none, and puts it in WAL mode, which the file then keeps.
 * @throws SqliteError when it is no database, or cannot be opened or made
 */
export async function prepareFile(path: string): Promise<void> {
  mkdirSync(dirname(databasePath(path)), { recursive: true })
  const db = new Database(databasePath(path), { timeout: busyTimeout.writer })
  try {
    // Two processes that switch one new file over at the same moment see SQLITE_BUSY without any wait: a lock upgrade
    // does not go through the busy handler.
    for (let attempt = 1; ; attempt++) {
      try {
        db.pragma('journal_mode = WAL')
        return
      } catch (error) {
        if (!(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) || attempt === 100) throw error
        await sleep(50)
      }
    }
  } finally {
    db.close()
  }
}
