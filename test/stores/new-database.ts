/**
 * Databases of a shop that has nothing yet, copied from one that was opened before: applying all migrations takes longer
 * than most of the tests that need a new database. The tests of opening and of migrations start from nothing.
 */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../stores/open.ts'
import { administer } from './administrator.ts'
import { type EmbeddedPostgres, execute } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'

let sqliteFile: Promise<Buffer> | undefined

async function makeSqliteFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'tradepost-new-'))
  try {
    const path = join(folder, 'shop.db')
    await (await openStore(`sqlite:${path}`, shopCurrency)).close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes a new SQLite database. @returns its path */
export async function newSqliteFile(path: string): Promise<string> {
  sqliteFile ??= makeSqliteFile()
  writeFileSync(path, await sqliteFile, { flag: 'wx', mode: 0o600 })
  return path
}

/**
 * Makes the database that `newPostgresDatabase` copies, and says which it is in the environment of the processes that are
 * started afterwards. Nobody can connect to it any more, because PostgreSQL copies no database that is in use.
 */
export async function makePostgresTemplate(url: string): Promise<Readonly<Record<string, string>>> {
  await (await openStore(url, shopCurrency)).close()
  const name = new URL(url).pathname.slice(1)
  await execute(Object.assign(new URL(url), { pathname: '/postgres' }).href, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  return { TEST_DATABASE_TEMPLATE: name }
}

/** The databases that this process has made, the oldest first. */
const made: string[] = []

/** A database is dropped when this many newer ones have been made. The test that it was made for has ended by then. */
const kept = 16

/** Makes a database on a PostgreSQL server: an empty one where there is none to copy. @returns its URL */
export async function newPostgresDatabase(server: string): Promise<string> {
  const template = process.env['TEST_DATABASE_TEMPLATE']
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(server, `CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${template} STRATEGY file_copy`}`)
  made.push(name)
  const oldest = made.length > kept ? made.shift() : undefined
  // PostgreSQL drops no database that is in use.
  if (oldest !== undefined) await administer(server, `DROP DATABASE ${oldest}`).catch(() => made.push(oldest))
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

/** The database of a new shop on the server that `postgresFor` gives; on a test's own server it is empty, and the store migrates it. */
export async function newShopDatabase(server: Pick<EmbeddedPostgres, 'database'>): Promise<string> {
  const running = process.env['TEST_DATABASE_URL']
  return running === undefined ? server.database() : newPostgresDatabase(running)
}
