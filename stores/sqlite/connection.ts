import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { makeFile, refuseForeign } from './file.ts'

/**
 * Every connection and statement that was made, for as long as the thread lives. They are few, since a statement is prepared
 * once. Since Node 24.19 the process is aborted when a garbage collection outside of JavaScript frees an object of an addon
 * that was compiled with node::ObjectWrap (nodejs/node#65446), as better-sqlite3 12 is; 13 is not, but needs Node 22.
 */
const kept: object[] = []

/** The only way to a connection. What makes native objects at each call (`iterate`, `backup`) is not for use. */
export class Connection extends Database {
  constructor(path: string, options?: Database.Options) {
    super(path, options)
    kept.push(this)
  }

  override prepare<Bound extends unknown[] | object = unknown[], Row = unknown>(sql: string) {
    const statement = super.prepare<Bound, Row>(sql)
    kept.push(statement)
    return statement
  }

  /** One that only sets something can be `exec`uted. */
  override pragma(source: string, options: Database.PragmaOptions = {}): unknown {
    const statement = this.prepare(`PRAGMA ${source}`)
    return options.simple ? statement.pluck().get() : statement.all()
  }
}

const busyTimeout = { reader: 1_000, writer: 5_000 } as const

/** Resolved, because SQLite would read a path that begins with `file:` as a URI. */
export function databasePath(path: string): string {
  return resolve(path)
}

/** The identity of the file that a path names now. @throws Error when it names none */
export function fileIdentity(path: string): string {
  const { dev, ino } = statSync(databasePath(path), { bigint: true })
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

/** What a reader keeps of the file, in KiB: of what is asked for now and then, or of what is walked through once. */
const pageCache = { lookup: 32_768, scan: 1_024 } as const

/** A connection that cannot write: every write goes through the one writer. Waits up to a second for a lock. */
export function connectReader(path: string, use: keyof typeof pageCache = 'lookup'): Connection {
  const db = new Connection(databasePath(path), { readonly: true, fileMustExist: true, timeout: busyTimeout.reader })
  db.exec(`PRAGMA cache_size = -${pageCache[use]}`)
  return db
}

/** A connection that writes; the file must be there. Waits up to five seconds for another process's transaction. */
export function connectWriter(path: string): Connection {
  const db = new Connection(databasePath(path), { fileMustExist: true, timeout: busyTimeout.writer })
  // FULL, because better-sqlite3 is built with NORMAL for WAL, which may lose the last commits when the power goes
  // (https://sqlite.org/pragma.html#pragma_synchronous).
  db.exec('PRAGMA synchronous = FULL')
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('PRAGMA cache_size = -32768')
  db.exec('PRAGMA journal_size_limit = 67108864')
  return db
}

/**
 * Makes the file, and its directory, where there is none, and puts it in WAL mode, which the file then keeps. A file of
 * something else is not touched.
 * @param check throws for a database that is not to be used
 * @throws StoreOpenError when it is not ours, or what `check` throws; SqliteError, or the file system's error
 */
export async function prepareFile(path: string, check: (db: Connection) => void): Promise<void> {
  makeFile(databasePath(path))
  refuseForeign(databasePath(path))
  const db = new Connection(databasePath(path), { timeout: busyTimeout.writer })
  try {
    // Two processes that switch one new file over at the same moment see SQLITE_BUSY without any wait: a lock upgrade
    // does not go through the busy handler.
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
