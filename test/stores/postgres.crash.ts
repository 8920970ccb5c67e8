/**
 * More rounds: `npx tap --timeout=0 --test-arg=1000 test/stores/postgres.crash.ts`. With a database's URL as its
 * argument this file is the program that is killed.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { crashSuite } from './crash.ts'
import { writeUntilKilled } from './crash-load.ts'
import { execute, startPostgres } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'

const [, , argument = '3'] = process.argv
const open = (url: string) => openPostgresStore({ url, currency: shopCurrency })

/** Waits until the server has ended the last COMMIT of the killed process. */
async function alone(url: string): Promise<void> {
  const sql = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  while ((await execute(url, sql)).length > 0) await sleep(10)
}

if (argument.startsWith('postgres:')) {
  // Two replicas.
  await writeUntilKilled([await open(argument), await open(argument)])
} else {
  const { default: t } = await import('tap')
  const server = await startPostgres()
  t.teardown(() => server.close())
  let last: string | undefined
  crashSuite(t, Number(argument), async () => {
    if (last !== undefined) await execute(await server.database('postgres'), `DROP DATABASE ${new URL(last).pathname.slice(1)}`)
    const url = await server.database()
    last = url
    return {
      program: new URL(import.meta.url),
      argument: url,
      open: async () => {
        await alone(url)
        return open(url)
      }
    }
  })
}
