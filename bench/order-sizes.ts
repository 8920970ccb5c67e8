/** Compares orders per second over HTTP of this release and an earlier one, for orders of 1, 5 and 20 lines. See README.md. */

import { startLoader } from './load.ts'
import { comparesReleases, interleave, machine, median, print, random, ratio, settings, table } from './measure.ts'
import { order, type Release, startReleases } from './releases.ts'

const sizes = [1, 5, 20] as const
const clients = 64

const options = settings({ rounds: 5, seconds: 2 }, comparesReleases)
const releases = await startReleases(options, { RATE_LIMIT: 'off', OVERLOAD_DELAY: 'off' })
const loader = startLoader()

/** Measures orders per second, and milliseconds of processor time of the whole service for each order. */
async function rate({ port, service }: Release, requests: readonly string[]): Promise<{ perSecond: number; cpu: number }> {
  const before = service.cpu()
  const { perSecond, latencies } = await loader.run({ ...options, port, requests, clients, status: 201 })
  return { perSecond, cpu: (1000 * (service.cpu() - before)) / latencies.length }
}

try {
  const rows: string[][] = []
  for (const lines of sizes) {
    const next = random(options.seed)
    const requests = Array.from({ length: 500 }, () => order(lines, next))
    const contest = Object.fromEntries(releases.map((release) => [release.name, () => rate(release, requests)] as const))
    const runs = await interleave(options.rounds, contest, options.seed)
    const [first = []] = Object.values(runs)
    for (const [name, figures] of Object.entries(runs)) {
      const [rates, base] = [figures, first].map((run) => run.map(({ perSecond }) => perSecond)) as [number[], number[]]
      const cpu = median(figures.map((figure) => figure.cpu)).toFixed(2)
      rows.push([`${lines}, ${name}`, String(Math.round(median(rates))), cpu, figures === first ? '1' : ratio(rates, base).text])
    }
  }
  print('# Orders over HTTP, 64 clients (SQLite)', machine(options.directory))
  print(table(['lines', 'orders/s', 'CPU of all threads, ms', 'ratio of orders/s'], rows))
} finally {
  await loader.close()
  for (const { service } of releases) service.child.kill('SIGKILL')
}
