/** Measures the latency and the processor time of requests, and formats the results as rows of a table. */

import { readFileSync } from 'node:fs'
import type { Answered, Load, Loader } from './load.ts'
import { median, percentile, ratio, verdict } from './measure.ts'
import type { Served } from './shop.ts'

export interface Measured extends Answered {
  /** Milliseconds of processor time of the serving thread for each request. It is NaN on systems other than Linux. */
  readonly cpu: number
}

/** A contestant for `interleave`: one load on one shop. This thread must serve the shop. */
export function under(loader: Loader, { port }: Served, load: Omit<Load, 'port'>): () => Promise<Measured> {
  return async () => {
    const before = threadTime()
    const answered = await loader.run({ port, ...load })
    return { ...answered, cpu: (threadTime() - before) / answered.latencies.length }
  }
}

/** Processor time of the main thread, in milliseconds. Unlike the clock, it does not include the time of other programs. */
function threadTime(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return Number.NaN
  }
}

export const at = (runs: readonly Answered[], share: number): number[] => runs.map(({ latencies }) => percentile(latencies, share))

export function heads(what: string): string[] {
  return [what, 'p50, ms', 'p99, ms', 'CPU, ms', 'p50, ratio', 'CPU, ratio', 'target of p50']
}

/** The row of one contestant. Its ratios compare it with the first row of the table. */
export function row(name: string, runs: readonly Measured[], first: readonly Measured[], target?: number): string[] {
  const cpu = (of: readonly Measured[]) => of.map((run) => run.cpu)
  const figures = [median(at(runs, 0.5)), median(at(runs, 0.99)), median(cpu(runs))].map((figure) => figure.toFixed(3))
  if (runs === first) return [name, ...figures, '1', '1', '']
  const found = ratio(at(runs, 0.5), at(first, 0.5))
  return [name, ...figures, found.text, ratio(cpu(runs), cpu(first)).text, target === undefined ? '' : verdict(found, target)]
}
