/** Compares orders per second with the outbox and without it, on SQLite and on PostgreSQL. See README.md. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../domain/store.ts'
import { openPostgresStore } from '../stores/postgres/store.ts'
import { Connection } from '../stores/sqlite/connection.ts'
import { execute, startPostgres } from '../test/stores/embedded.ts'
import { interleave, machine, median, newFolder, print, ratio, settings, table } from './measure.ts'
import { placeFor } from './order-rates.ts'
import { currency, openFile, putStockedProducts } from './shop.ts'

const options = settings({ rounds: 7, seconds: 1 })

interface Contestants {
  readonly name: string
  readonly with: Store
  readonly without: Store
}

async function onSqlite(folder: string): Promise<Contestants> {
  const path = join(folder, 'without.db')
  const without = await openFile(path)
  await putStockedProducts(without)
  // The store writes its events, and this trigger makes the database drop them.
  const db = new Connection(path)
  db.exec('CREATE TRIGGER drop_events BEFORE INSERT ON event BEGIN SELECT RAISE(IGNORE); END')
  db.close()
  const store = await openFile(join(folder, 'with.db'))
  await putStockedProducts(store)
  return { name: 'SQLite', with: store, without }
}

async function onPostgres(urls: { readonly with: string; readonly without: string }): Promise<Contestants> {
  const [store, without] = await Promise.all([urls.with, urls.without].map((url) => openPostgresStore({ url, currency })))
  if (!store || !without) throw new Error('two stores were opened')
  await Promise.all([store, without].map(putStockedProducts))
  // Without the row of event_head no event gets a position, so none is written.
  await execute(urls.without, 'DELETE FROM event_head')
  return { name: 'PostgreSQL', with: store, without }
}

async function measure(contestants: Contestants): Promise<(string | number)[][]> {
  const rows: (string | number)[][] = []
  for (const clients of [1, 16, 64]) {
    const contest = {
      with: () => placeFor(contestants.with, clients, options),
      without: () => placeFor(contestants.without, clients, options)
    }
    const rates = await interleave(options.rounds, contest, options.seed)
    const [withOutbox, without] = [median(rates.with), median(rates.without)].map(Math.round)
    rows.push([contestants.name, clients, without ?? 0, withOutbox ?? 0, ratio(rates.with, rates.without).text])
  }
  await Promise.all([contestants.with.close(), contestants.without.close()])
  return rows
}

const folder = newFolder(options.directory)
process.env['TMPDIR'] = options.directory
const server = await startPostgres()
try {
  const urls = { with: await server.database(), without: await server.database() }
  const rows = [...(await measure(await onSqlite(folder))), ...(await measure(await onPostgres(urls)))]
  print('# Orders with the outbox and without it, through the Store', machine(options.directory))
  print(table(['store', 'clients', 'without, orders/s', 'with, orders/s', 'ratio'], rows))
} finally {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
}
