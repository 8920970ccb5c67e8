import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { StoreOpenError } from '../../domain/errors.ts'
import { serviceFile } from '../../files.ts'
import { type Migrated, type Migration, migrationsIn, refuseNewer } from '../migrations.ts'
import { connectTimeout } from './connect-timeout.ts'
import { databaseName, foreignDatabase, makeClient, openError } from './open-error.ts'

const folder = serviceFile('stores/postgres/migrations/')

/** The id of the advisory lock for migrations. It is arbitrary, but must be the same in every release. */
const lock = '7020210519732'

/** Milliseconds. A migration itself has no limit. */
const timeouts = { connect: 10_000 } as const

/**
 * Migrates a database to the schema of this code in one transaction. Several processes may start at once: one migrates, and
 * the others wait for it.
 * @throws StoreOpenError if the database cannot be reached, is newer than the code, is not Tradepost's, or is not in UTF-8
 */
export async function migratePostgres(url: string): Promise<Migrated> {
  const client = makeClient(url, {
    connectionTimeoutMillis: connectTimeout(url, timeouts.connect),
    fallback_application_name: 'tradepost'
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const known = migrationsIn(folder)
    const newest = known.at(-1)?.number ?? 0
    const from = await version(client)
    if (from === newest) return { from, to: from, applied: [] }
    await requireUtf8(client)
    await refuseForeign(client)
    // With READ COMMITTED, this process sees the migrations of the process that held the lock before.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query('SELECT pg_advisory_xact_lock($1)', [lock])
    const result = await apply(client, known)
    await client.query('COMMIT')
    return result
  } catch (error) {
    throw openError(error, client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** The number of the newest migration that was applied, or 0. */
async function version(client: pg.Client): Promise<number> {
  const { rows: found } = await client.query<{ there: boolean }>(`SELECT to_regclass('migration') IS NOT NULL AS there`)
  if (!found[0]?.there) return 0
  const { rows } = await client.query<{ number: number }>('SELECT coalesce(max(number), 0) AS number FROM migration')
  return rows[0]?.number ?? 0
}

async function requireUtf8(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding')
  const encoding = rows[0]?.server_encoding
  if (encoding !== 'UTF8') {
    throw new StoreOpenError(`${databaseName(client)} is in ${encoding}, and Tradepost needs UTF8: create one with ENCODING 'UTF8'`)
  }
}

/** Refuses a database that has tables of another program and none of this one. What belongs to an extension does not count. */
async function refuseForeign(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ relname: string }>(
    `SELECT relname FROM pg_class c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      AND to_regclass('migration') IS NULL
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
      ORDER BY relname LIMIT 1`
  )
  const [foreign] = rows
  if (foreign) throw foreignDatabase(client, `it has a table ${JSON.stringify(foreign.relname)}`)
}

/** Applies the missing migrations. The caller holds the lock. */
async function apply(client: pg.Client, known: readonly Migration[]): Promise<Migrated> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS migration (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())'
  )
  const from = await version(client)
  const newest = known.at(-1)?.number ?? 0
  refuseNewer(databaseName(client), from, newest)
  const missing = known.filter(({ number }) => number > from)
  for (const { number, name } of missing) {
    await client.query(readFileSync(new URL(name, folder), 'utf8'))
    await client.query('INSERT INTO migration (number, name) VALUES ($1, $2)', [number, name])
  }
  return { from, to: newest, applied: missing.map(({ name }) => name) }
}
