import { readFileSync } from 'node:fs'
import { StoreOpenError } from '../../domain/errors.ts'
import { serviceFile } from '../../files.ts'
import { type Migrated, type Migration, migrationsIn, refuseNewer } from '../migrations.ts'
import { type Connection, connectWriter, databasePath, prepareFile } from './connection.ts'
import { openError } from './explain.ts'
import { applicationId } from './file.ts'

const folder = serviceFile('stores/sqlite/migrations/')

/**
 * Migrates a database file to the schema of this code, and makes the file if it does not exist. Each migration is one
 * transaction that checks the version again, so several processes may start at once.
 * @param finish a last step before the database is used
 * @throws StoreOpenError if the file cannot be opened, is newer than the code, or is not Tradepost's; the error of `finish`
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
  await prepareFile(path, (db) => refuseForeignOrNewer(db, path, known.at(-1)?.number ?? 0))
  const db = connectWriter(path, 'migration')
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

/** Reads in one transaction, since another process may be making the tables. */
function refuseForeignOrNewer(db: Connection, path: string, newest: number): void {
  const { number, application, tables } = db.transaction(() => ({
    number: version(db),
    application: db.pragma('application_id', { simple: true }),
    tables: db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
  }))()
  // The file may have changed since file.ts checked it.
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
