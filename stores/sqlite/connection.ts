import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { makeFile, refuseForeign } from './file.ts'

/**
 * All connections and statements of this thread. They are kept so that they are never garbage-collected: since Node 24.19 the
 * process aborts when a garbage collection outside of JavaScript frees an object of an addon that was compiled with
 * node::ObjectWrap (nodejs/node#65446), such as better-sqlite3 12. Version 13 is not affected, but needs Node 22. The list
 * stays short, because each statement is prepared once.
 */
const nativeObjects: object[] = []

/** Use only this class to open a database. Do not call `iterate` and `backup`, which make a native object at each call. */
export class Connection extends Database {
  constructor(path: string, options?: Database.Options) {
    super(path, options)
    nativeObjects.push(this)
  }

  override prepare<Bound extends unknown[] | object = unknown[], Row = unknown>(sql: string) {
    const statement = super.prepare<Bound, Row>(sql)
    nativeObjects.push(statement)
    return statement
  }

  /** Reads a pragma. To set one, use `exec`, which makes no statement. */
  override pragma(source: string, options: Database.PragmaOptions = {}): unknown {
    const statement = this.prepare(`PRAGMA ${source}`)
    return options.simple ? statement.pluck().get() : statement.all()
  }
}

/**
 * Milliseconds that a connection waits for a lock. A migration waits longer: several processes may start at once, and the migration
 * that one of them applies can take longer than any write of a shop.
 */
const busyTimeout = { reader: 1_000, writer: 5_000, migration: 30_000 } as const

/** The absolute path of a database. SQLite would read a relative path that begins with `file:` as a URI. */
export function databasePath(path: string): string {
  return resolve(path)
}

/** The device and inode of the file at a path; empty if there is no file. */
export function fileIdentity(path: string): string {
  const stats = statSync(databasePath(path), { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.dev}:${stats.ino}` : ''
}

/**
 * Checks that the path still names the file that was opened. A connection keeps writing to a file that was moved or removed,
 * and those writes would be lost.
 * @throws SqliteError `SQLITE_READONLY_DBMOVED` if it names another file or none
 */
export function checkFile(path: string, identity: string): void {
  const now = fileIdentity(path)
  if (now === identity && now !== '') return
  const what = now === '' ? 'is not there any more' : 'is another file than the one that was opened'
  throw new Database.SqliteError(`${path} ${what}: put the file back, or restart the shop`, 'SQLITE_READONLY_DBMOVED')
}

/** The page cache of a reader, in KiB. A scan reads each page only once, so it needs little. */
const pageCache = { lookup: 16_384, scan: 1_024 } as const

/** Opens a read-only connection. Every write goes through the one writer. */
export function connectReader(path: string, use: keyof typeof pageCache = 'lookup'): Connection {
  const db = new Connection(databasePath(path), { readonly: true, fileMustExist: true, timeout: busyTimeout.reader })
  db.exec(`PRAGMA cache_size = -${pageCache[use]}`)
  return db
}

/** Opens a connection that writes. The file must exist. */
export function connectWriter(path: string, use: 'writer' | 'migration' = 'writer'): Connection {
  const db = new Connection(databasePath(path), { fileMustExist: true, timeout: busyTimeout[use] })
  // better-sqlite3 is compiled with NORMAL for WAL, which may lose the last commits in a power failure
  // (https://sqlite.org/pragma.html#pragma_synchronous).
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('PRAGMA cache_size = -16384')
  db.exec('PRAGMA journal_size_limit = 67108864')
  return db
}

/**
 * Makes the file and its directory if they do not exist, and puts the file in WAL mode, which is permanent. A file that is
 * not Tradepost's is not changed.
 * @param check throws if the database must not be used
 * @throws StoreOpenError if the file is not Tradepost's; the error of `check`; SqliteError; the file system's error
 */
export async function prepareFile(path: string, check: (db: Connection) => void): Promise<void> {
  makeFile(databasePath(path))
  refuseForeign(databasePath(path), 'write')
  const db = new Connection(databasePath(path), { timeout: busyTimeout.writer })
  try {
    // When two processes put a new file in WAL mode at the same moment, one gets SQLITE_BUSY at once: SQLite does not call
    // the busy handler for a lock upgrade.
    for (let attempt = 1; ; attempt++) {
      try {
        check(db)
        db.exec('PRAGMA journal_mode = WAL')
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
