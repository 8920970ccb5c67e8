import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import t, { type Test } from 'tap'
import { compile } from './cli/compile.ts'
import { runServer, spawnServer } from './run-server.ts'

const built = await compile()

/** A copy of the build, since the tests share the build itself. */
function copy(t: Test): string {
  const folder = join(t.testdir(), 'build')
  cpSync(dirname(built), folder, { recursive: true })
  return join(folder, 'dist')
}

/** Prints whether V8 rejects a cache, in a process without the tests' loaders. */
const compiles = `
const [path] = process.argv.slice(1)
const { readFileSync } = require('node:fs')
const { Script } = require('node:vm')
const cachedData = readFileSync(path + '.cache').subarray(4)
const source = '(function (exports, require, module, __filename, __dirname) { ' + readFileSync(path + '.cjs', 'latin1') + '\\n})'
console.log(new Script(source, { cachedData }).cachedDataRejected)`

t.test('the build has a code cache for each thread and process that a service with SQLite starts, and V8 accepts it', async (t) => {
  // V8 accepts a cache only with the flags that it was made with: those of the process for small documents.
  const options: Readonly<Record<string, readonly string[]>> = {
    server: [],
    'documents-process': ['--max-old-space-size=256', '--max-semi-space-size=8'],
    'stores-sqlite-writer-thread': []
  }
  const found = readdirSync(join(built, 'code')).filter((name) => name.endsWith('.cache'))
  t.same(found.map((name) => name.replace('.cache', '')).sort(), Object.keys(options).sort())
  for (const [entry, flags] of Object.entries(options)) {
    const args = [process.execPath, ...flags, '-e', compiles, join(built, 'code', entry)]
    const { stdout } = spawnSync('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', ...args], { encoding: 'utf8' })
    t.equal(stdout.trim(), 'false', entry)
  }
})

t.test('a cache of other code is not used, even if that code is as long', async (t) => {
  const dist = copy(t)
  const code = join(dist, 'code', 'server.cjs')
  const source = readFileSync(code, 'utf8')
  writeFileSync(code, source.replaceAll('Tradepost listens on', 'TRADEPOST LISTENS ON'))
  const service = spawnServer(t, { DATABASE_URL: `sqlite:${join(dirname(dist), 'shop.db')}` }, join(dist, 'server.js'))
  let log = ''
  for await (const chunk of service.stdout ?? []) {
    log += chunk
    if (log.includes('"address"')) break
  }
  t.match(log, 'TRADEPOST LISTENS ON')
})

/** Prints whether load.cjs takes the cache of the service. */
const takes = `
require('node:vm').Script = class {
  constructor(_source, { cachedData }) {
    console.log(cachedData !== undefined)
    process.exit()
  }
}
require(process.argv[1] + '/load.cjs')('server')`

t.test('a cache of another Node.js is not used, even if it has the same version of V8', async (t) => {
  const dist = copy(t)
  const isTaken = () => {
    const args = [process.execPath, '-e', takes, join(dist, 'code')]
    return spawnSync('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', ...args], { encoding: 'utf8' }).stdout.trim()
  }
  t.equal(isTaken(), 'true')
  const code = readFileSync(join(dist, 'code/server.cjs'), 'latin1')
  const source = `(function (exports, require, module, __filename, __dirname) { ${code}\n})`
  const path = join(dist, 'code/server.cache')
  const cache = readFileSync(path)
  const headerOf = (version: string) => crc32(Buffer.from(source, 'latin1'), crc32(`${version} ${process.arch}`))
  t.equal(cache.readUInt32LE(), headerOf(process.version))
  cache.writeUInt32LE(headerOf(`${process.version}0`))
  writeFileSync(path, cache)
  t.equal(isTaken(), 'false')
})

t.test('without its caches, or with damaged ones, the service starts all the same', async (t) => {
  const dist = copy(t)
  truncateSync(join(dist, 'code', 'server.cache'), 1_000)
  writeFileSync(join(dist, 'code', 'stores-sqlite-writer-thread.cache'), '')
  writeFileSync(join(dist, 'code', 'documents-process.cache'), 'damaged')
  const { base, end } = await runServer(t, { DATABASE_URL: `sqlite:${join(dirname(dist), 'shop.db')}` }, join(dist, 'server.js'))
  t.equal((await fetch(`${base}/product/ABC-1`)).status, 200)
  t.equal(await end('SIGTERM'), 0)
})

t.test('with --enable-source-maps a stack trace names the sources', async (t) => {
  const dist = copy(t)
  const code = join(dist, 'code', 'server.cjs')
  writeFileSync(code, readFileSync(code, 'utf8').replace('function readConfig(', "throw new Error('no settings'); function readConfig("))
  const { stderr } = spawnSync(
    '/bin/sh',
    ['-c', 'NODE_OPTIONS=--enable-source-maps exec "$0" "$1"', process.execPath, join(dist, 'server.js')],
    {
      encoding: 'utf8'
    }
  )
  t.match(stderr, /config\.ts:\d+/)
})
