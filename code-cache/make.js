/** Makes the code cache of a build: runs its service, and writes what V8 has compiled by the first answers. See load.cjs. */

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const recorder = fileURLToPath(new URL('record.cjs', import.meta.url))

/** Requests that make V8 compile the code of a typical first minute: products as XML and HTML, a search, and an order. */
const requests = [
  ['/product/ABC-1', {}],
  ['/products', {}],
  ['/', { headers: { accept: 'text/html' } }],
  ['/products?q=bolt', { headers: { accept: 'application/json' } }],
  [
    '/order',
    {
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
      body: '<purchase-order><item><product-id>ABC-1</product-id><quantity>1</quantity></item></purchase-order>'
    }
  ]
]

/**
 * Starts the service of a build with a new database. The signal aborts when the service ends. There is no other limit, because a slow
 * machine takes its time.
 */
function start(build, folder, request) {
  // biome-ignore lint/style/noProcessEnv: none of the operator's settings may reach this service
  const { PATH, SystemRoot } = process.env
  const service = spawn(process.execPath, [join(build, 'server.js')], {
    env: {
      ...(SystemRoot === undefined ? {} : { SystemRoot }),
      PATH,
      NODE_OPTIONS: `--require=${JSON.stringify(recorder)}`,
      CODE_CACHE_REQUEST: request,
      DATABASE_URL: `sqlite:${join(folder, 'shop.db')}`,
      PORT: '0'
    },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  const ended = new AbortController()
  const end = (error) => ended.abort(error)
  service.once('error', end)
  service.once('exit', (code) => end(new Error(`the service ended with ${code}`)))
  const address = new Promise((resolve, reject) => {
    let log = ''
    service.stdout.on('data', (chunk) => {
      log += chunk
      const found = /"address":"([^"]+)"/.exec(log)
      if (found) resolve(found[1])
    })
    ended.signal.addEventListener('abort', () => reject(ended.signal.reason))
  })
  return { service, address, signal: ended.signal }
}

/**
 * @param {string} build the folder of the build
 * @param {readonly string[]} names of the code that runs in a service with SQLite
 */
export async function makeCodeCache(build, names) {
  const folder = mkdtempSync(join(tmpdir(), 'tradepost-code-'))
  const request = join(folder, 'request')
  const { service, address, signal } = start(build, folder, request)
  try {
    const base = await address
    for (const [path, options] of requests) await (await fetch(`${base}${path}`, { ...options, signal })).arrayBuffer()
    writeFileSync(request, '')
    const isMissing = (name) => !existsSync(join(build, 'code', `${name}.cache`))
    while (names.some(isMissing)) {
      signal.throwIfAborted()
      await sleep(20)
    }
  } catch (error) {
    // Without the cache the service only starts slower.
    process.stderr.write(`The build has no code cache: ${error.message}\n`)
  } finally {
    service.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}
