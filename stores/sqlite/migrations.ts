import { readFileSync } from 'node:fs'
import { type Migrated, type Migration, migrationsIn } from '../migrations.ts'
import { applicationId, type Connection, connectWriter, prepareFile } from './connection.ts'

const folder = new URL('./migrations/', import.meta.url)

/**
 * Brings a database file up to this code's schema, and makes it where there is none. Each step is one transaction and
 * checks the number again inside it, so any number of processes may start at once.
 * @param finish what else is to be done to the file before it is used
 * @throws Error when the database is newer than the code, or not Tradepost's
 */
export async function migrateSqlite(path: string, finish?: (db: Connection) => void): Promise<Migrated> {
  const known = migrationsIn(folder)
  await prepareFile(path, (db) => refuseStrange(db, path, known.at(-1)?.number ?? 0))
  const db = connectWriter(path)
  try {
    const from = version(db)
    const applied = known.filter((migration) => apply(db, migration)).map(({ name }) => name)
    finish?.(db)
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
