import { readFileSync } from 'node:fs'
import { StoreOpenError } from '../../domain/errors.ts'
import { type Migrated, type Migration, migrationsIn, refuseNewer } from '../migrations.ts'
import { type Connection, connectWriter, databasePath, prepareFile } from './connection.ts'
import { openError } from './explain.ts'
import { applicationId } from './file.ts'

const folder = new URL('./migrations/', import.meta.url)

/**
 * Brings a database file up to this code's schema, and makes it where there is none. Each step is one transaction and
 * checks the number again inside it, so any number of processes may start at once.
 * @param finish what else is to be done to the file before it is used
 * @throws StoreOpenError when it cannot be opened, is newer than the code, or not Tradepost's; what `finish` throws
 */
export async function migrateSqlite(path: string, finish?: (db: Connection) => void): Promise<Migrated> {
  try {
    return await migrate(path, finish)
  } catch (error) {
    throw openError(error, databasePath(path))
  }
}

async function migrate(path: string, finish?: (db: Connection) => void): Promise<Migrated> {
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
  // What file.ts has recognised by its bytes may have become another since.
  if (tables !== 0 && application !== applicationId) throw new StoreOpenError(`${path} is a database of something else, not of Tradepost`)
  refuseNewer(databasePath(path), number, newest)
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
