import { readdirSync, readFileSync } from 'node:fs'
import { applicationId, type Connection, connectWriter, prepareFile } from './connection.ts'

export interface Migrated {
  /** The schema's number before and after; equal when there was nothing to do. */
  readonly from: number
  readonly to: number
  /** The names of the files that were run, in order. */
  readonly applied: readonly string[]
}

interface Migration {
  readonly number: number
  readonly name: string
}

const folder = new URL('./migrations/', import.meta.url)

function migrations(): Migration[] {
  const names = readdirSync(folder).filter((name) => /^\d{4}-.+\.sql$/.test(name))
  return names.sort().map((name) => ({ number: Number(name.slice(0, 4)), name }))
}

/**
 * Brings a database file up to this code's schema, and makes it where there is none. Each step is one transaction and
 * checks the number again inside it, so any number of processes may start at once.
 * @throws Error when the database is newer than the code, or not Tradepost's
 */
export async function migrateSqlite(path: string): Promise<Migrated> {
  await prepareFile(path)
  const db = connectWriter(path)
  try {
    const known = migrations()
    refuseStrange(db, path, known.at(-1)?.number ?? 0)
    const from = version(db)
    const applied = known.filter((migration) => apply(db, migration)).map(({ name }) => name)
    return { from, to: version(db), applied }
  } finally {
    db.close()
  }
}

function version(db: Connection): number {
  return Number(db.pragma('user_version', { simple: true }))
}

/** In one read transaction, since another process may be making the tables meanwhile. */
function refuseStrange(db: Connection, path: string, newest: number): void {
  const { number, application, tables } = db.transaction(() => ({
    number: version(db),
    application: db.pragma('application_id', { simple: true }),
    tables: db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
  }))()
  if (tables !== 0 && application !== applicationId) throw new Error(`${path} is a database of something else, not of Tradepost`)
  if (number > newest) {
    throw new Error(`${path} has the schema ${number}, this Tradepost knows only up to ${newest}: run the newer one, or restore a backup`)
  }
}

function apply(db: Connection, migration: Migration): boolean {
  return db
    .transaction(() => {
      if (version(db) >= migration.number) return false
      db.exec(readFileSync(new URL(migration.name, folder), 'utf8'))
      db.exec(`PRAGMA user_version = ${migration.number}`)
      db.exec(`PRAGMA application_id = ${applicationId}`)
      return true
    })
    .immediate()
}
