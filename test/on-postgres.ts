/**
 * Runs the suites that are named (by default those of HTTP, of concurrency and of the routes) on a real PostgreSQL, which it
 * starts and stops: the very tests that `npm test` runs on SQLite.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startPostgres } from './stores/embedded.ts'

const suites = process.argv.slice(2)
const server = await startPostgres({ fsync: 'off', max_connections: '400' })
try {
  const tests = suites.length > 0 ? suites : ['test/http', 'test/concurrency', 'test/routes']
  const tap = spawn(
    'npx',
    ['tap', '--disable-coverage', ...tests.map((folder) => (folder.endsWith('.ts') ? folder : `${folder}/*.test.ts`))],
    {
      env: { ...process.env, TEST_DATABASE_URL: await server.database() },
      stdio: 'inherit',
      shell: true
    }
  )
  const [code] = await once(tap, 'exit')
  process.exitCode = typeof code === 'number' ? code : 1
} finally {
  await server.close()
}
