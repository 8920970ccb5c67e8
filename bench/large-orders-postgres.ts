/** Measures how long an order of one line takes on PostgreSQL, while other customers place and cancel orders of 10,000 products. See README.md. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answered, ask } from '../test/ask.ts'
import { startPostgres } from '../test/stores/embedded.ts'
import { comparesReleases, machine, percentile, print, ratio, settings, table } from './measure.ts'
import { listening, startProcess, succeeds, type Watched } from './process.ts'
import { builds, catalogue, folder, orderBody } from './releases.ts'

const options = settings({ rounds: 1, seconds: 25 }, comparesReleases)
const customers = [0, 1, 3] as const
const products = Array.from({ length: 10_000 }, (_, i) => `BENCH-${i}`)
const xml = { 'content-type': 'application/xml', prefer: 'return=minimal' }
const bodyOf = (ids: readonly string[]) => orderBody(ids, () => 1)
const large = bodyOf(products)

const place = (port: number, from: string, body: string) =>
  ask(port, from, undefined, { method: 'POST', path: '/order', headers: xml, body })

/** Places an order of all products and cancels it, again and again. */
async function placeAndCancel(port: number, from: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { status, headers } = await place(port, from, large)
    if (status !== 201) await sleep(1_000)
    else await ask(port, from, undefined, { method: 'DELETE', path: String(headers.location), headers: { prefer: 'return=minimal' } })
  }
}

/** Places orders of one line, some ten a second, without waiting for their answers. */
async function placeSmall(port: number, until: number): Promise<{ readonly latencies: readonly number[]; readonly refused: number }> {
  const latencies: number[] = []
  const placed: Promise<Answered>[] = []
  for (let i = 0; performance.now() < until; i++) {
    const begun = performance.now()
    const answer = place(port, '127.0.2.1', bodyOf([products[i % products.length] ?? '']))
    placed.push(answer)
    void answer.then(() => latencies.push(performance.now() - begun))
    await sleep(100)
  }
  const answers = await Promise.all(placed)
  return { latencies, refused: answers.filter(({ status }) => status !== 201).length }
}

async function start(build: string, url: string): Promise<Watched> {
  const file = join(folder(options.directory), 'catalogue.xml')
  writeFileSync(file, catalogue(products))
  const imported = startProcess(join(build, 'cli.js'), ['import', file], { DATABASE_URL: url })
  imported.child.stdout?.resume()
  await succeeds(imported)
  const environment = { DATABASE_URL: url, HOST: '127.0.0.1', PORT: '0', SAMPLE_CATALOGUE: 'off', RATE_LIMIT: 'off' }
  return startProcess(join(build, 'server.js'), [], environment)
}

// The server puts its data in this directory.
process.env['TMPDIR'] = options.directory
const server = await startPostgres()
try {
  const rows: string[][] = []
  const first = new Map<number, readonly number[]>()
  for (const [name, build] of await builds(options.before)) {
    const service = await start(build, await server.database())
    const port = Number(new URL(await listening(service)).port)
    for (const others of customers) {
      const until = performance.now() + options.milliseconds
      const attacks = Array.from({ length: others }, (_, i) => placeAndCancel(port, `127.0.3.${1 + i}`, () => performance.now() > until))
      const { latencies, refused } = await placeSmall(port, until)
      await Promise.all(attacks)
      const shares = [0.5, 0.99].map((share) => percentile(latencies, share))
      const base = first.get(others) ?? shares
      first.set(others, base)
      const ratios = shares.map((share, i) => ratio([share], [base[i] ?? share]).middle.toFixed(2))
      rows.push([`${others} customers, ${name}`, ...shares.map((share) => share.toFixed(0)), String(refused), ratios.join(', ')])
    }
    service.child.kill('SIGTERM')
    await succeeds(service)
  }
  print('# Orders of one line beside orders of 10,000 products (PostgreSQL)', machine(options.directory))
  print(table(['beside', 'p50, ms', 'p99, ms', 'refused', 'ratio of p50, p99'], rows))
} finally {
  await server.close()
}
