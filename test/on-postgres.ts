/**
 * Runs the suites that are named on one real PostgreSQL, which it starts and stops. By default: those of the store itself,
 * and those of HTTP, of concurrency and of the routes, the very tests that `npm test` runs on SQLite. Connections, limits and
 * rates are the same whatever the store.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { folderInMemory } from './memory.ts'
import { startPostgres } from './stores/embedded.ts'
import { makePostgresTemplate } from './stores/new-database.ts'

const named = process.argv.slice(2).map((name) => (name.endsWith('.ts') ? name : `${name}/*.test.ts`))
const suites = [
  'test/stores/store.postgres.ts',
  'test/suites/on-postgres.ts',
  'test/suites/http.suite.ts',
  'test/suites/routes.suite.ts',
  'test/suites/buyers.suite.ts',
  'test/suites/feeds.suite.ts',
  'test/routes/{buyers-large,large-orders}.long.ts',
  'test/concurrency/*.test.ts'
]
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  // Every test has a database of its own. These make it cheap: its files are cloned, and nothing is logged of them.
  wal_level: 'minimal',
  max_wal_senders: '0',
  file_copy_method: 'clone',
  // It would start a process for every database of the tests, again and again.
  autovacuum: 'off',
  // PostgreSQL looks through all buffers when a database is made and when it is dropped, and it logs the checkpoint of each.
  shared_buffers: '16MB',
  log_checkpoints: 'off',
  max_wal_size: '128MB',
  max_connections: '400'
}

// In memory, because every test has a database of its own, and each database is 300 files.
const server = await startPostgres(settings, folderInMemory(4))
try {
  const template = await makePostgresTemplate(await server.database())
  const tap = spawn('npx', ['tap', '--jobs=4', ...(named.length > 0 ? ['--disable-coverage', ...named] : suites)], {
    env: { ...process.env, ...template, TEST_DATABASE_URL: await server.database() },
    stdio: 'inherit'
  })
  const [code] = await once(tap, 'exit')
  process.exitCode = typeof code === 'number' ? code : 1
} finally {
  await server.close()
}
