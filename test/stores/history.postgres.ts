import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { execute, postgresFor } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'
import { goesOn, historic, keepsTotals, migration, sharesGtin, twins, twoLines } from './history.ts'

const server = await postgresFor(t)

const names = readdirSync(new URL('../../stores/postgres/migrations/', import.meta.url)).sort()

/** The versions of migration 0001 that were on main, by the commit that brought each. */
const firsts = {
  '69ef1f6': migration('postgres', '0001-shop.sql'),
  '5b1a9d7': historic('postgres', '0001-shop.5b1a9d7.sql')
}

/**
 * Opens a database with the rows of 69ef1f6, as it was when it had so many migrations.
 * @param more SQL that it ran at the end
 * @param newest the last of the migrations, if it was another then
 */
async function openAsOf(t: Test, first: string, migrations: number, more = '', newest?: string): Promise<{ url: string; store: Store }> {
  const url = await server.database()
  const later = names.slice(1, migrations).map((name, i) => (i + 2 === migrations && newest) || migration('postgres', name))
  const numbers = names.slice(0, migrations).map((name, n) => `INSERT INTO migration (number, name) VALUES (${n + 1}, '${name}')`)
  await execute(url, [table, ...numbers, first, historic('postgres', 'rows.sql'), ...later].join(';\n'))
  await execute(url, `UPDATE idempotency SET kept_at = floor(extract(epoch FROM clock_timestamp()) * 1000); ${more}`)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  t.teardown(() => store.close())
  return { url, store }
}

const table = 'CREATE TABLE migration (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())'

for (const [commit, first] of Object.entries(firsts)) {
  for (const [i, newest] of names.entries()) {
    t.test(`a database of ${commit}'s 0001, of the time when ${newest} was the newest, goes on`, async (t) => {
      const { url, store } = await openAsOf(t, first, i + 1)
      await goesOn(t, store)
      t.same(await execute(url, shape), await expected(), 'its tables are those of a new database')
    })
  }
}

t.test('a database that has two products with one GTIN in two lengths goes on', async (t) => {
  const { store } = await openAsOf(t, firsts['69ef1f6'], names.indexOf('0013-gtin14.sql'), twins)
  await sharesGtin(t, store)
})

t.test('a database whose index has letters in their other forms finds them in each form', async (t) => {
  const more = `UPDATE product SET words = words || '''10'':90 ''\u00b5m'':91 ''\u03c3\u03bf\u03c2'':92'::tsvector WHERE id = 'hammer'`
  const { store } = await openAsOf(t, firsts['69ef1f6'], 14, more)
  for (const q of ['10 \u00b5m', '10 \u03bcm', '\u03a3\u039f\u03a3', 'carpenter']) {
    const { items } = await store.products({ limit: 5, q })
    t.strictSame(
      items.map(({ id }) => id),
      ['hammer'],
      q
    )
  }
})

t.test('a database that has an order whose lines were rounded each by itself keeps its totals', async (t) => {
  const { store } = await openAsOf(t, firsts['69ef1f6'], 1, twoLines)
  await keepsTotals(t, store)
})

t.test('a database whose GTINs have a stored column of 14 digits goes on, with the index that look-ups use', async (t) => {
  const { url, store } = await openAsOf(t, firsts['69ef1f6'], 13, twins, historic('postgres', '0013-gtin14.fe48874.sql'))
  await sharesGtin(t, store)
  t.same(await execute(url, shape), await expected(), 'its tables are those of a new database')
})

/** All columns and indexes, as they are kept and made; their order does not matter. */
const shape = `SELECT table_name, column_name, data_type, is_nullable, column_default, generation_expression
  FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT tablename, indexname, indexdef, NULL, NULL, NULL FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2`

let fresh: Promise<unknown[]> | undefined

function expected(): Promise<unknown[]> {
  fresh ??= (async () => {
    const url = await server.database()
    await (await openPostgresStore({ url, currency: shopCurrency })).close()
    return execute(url, shape)
  })()
  return fresh
}
