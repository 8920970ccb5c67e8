import { readdirSync } from 'node:fs'
import t from 'tap'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { execute, postgresFor } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'
import { goesOn, historic, migration } from './history.ts'

const server = await postgresFor(t)

const names = readdirSync(new URL('../../stores/postgres/migrations/', import.meta.url)).sort()

/** The versions of migration 0001 that were on main, by the commit that brought each. */
const firsts = {
  '69ef1f6': migration('postgres', '0001-shop.sql'),
  '5b1a9d7': historic('postgres', '0001-shop.5b1a9d7.sql')
}

const table = 'CREATE TABLE migration (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())'

for (const [commit, first] of Object.entries(firsts)) {
  for (const [i, newest] of names.entries()) {
    t.test(`a database of ${commit}'s 0001, of the time when ${newest} was the newest, goes on`, async (t) => {
      const url = await server.database()
      const later = names.slice(1, i + 1).map((name) => migration('postgres', name))
      const numbers = names.slice(0, i + 1).map((name, n) => `INSERT INTO migration (number, name) VALUES (${n + 1}, '${name}')`)
      await execute(url, [table, ...numbers, first, historic('postgres', 'rows.sql'), ...later].join(';\n'))
      await execute(url, 'UPDATE idempotency SET kept_at = floor(extract(epoch FROM clock_timestamp()) * 1000)')
      const store = await openPostgresStore({ url, currency: shopCurrency })
      t.teardown(() => store.close())
      await goesOn(t, store)
      t.same(await execute(url, shape), await expected(), 'its tables are those of a new database')
    })
  }
}

/** All columns, as they are kept and made; their order does not matter. */
const shape = `SELECT table_name, column_name, data_type, is_nullable, column_default, generation_expression
  FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`

let fresh: Promise<unknown[]> | undefined

function expected(): Promise<unknown[]> {
  fresh ??= (async () => {
    const url = await server.database()
    await (await openPostgresStore({ url, currency: shopCurrency })).close()
    return execute(url, shape)
  })()
  return fresh
}
