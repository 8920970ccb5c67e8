/** How long requests take, and what they cost the service: runs of a load, and the rows of a table of them. */

import { readFileSync } from 'node:fs'
import type { Answered, Load, Loader } from './load.ts'
import { judged, median, percentile, ratio } from './measure.ts'
import type { Served } from './shop.ts'

export interface Measured extends Answered {
  /** Milliseconds of processor time a request of the thread that serves; NaN where the system does not tell. */
  readonly cpu: number
}

/** A contestant for `interleave`: one load on one shop, which this thread serves. */
export function under(loader: Loader, { port }: Served, load: Omit<Load, 'port'>): () => Promise<Measured> {
  return async () => {
    const before = threadTime()
    const answered = await loader.run({ port, ...load })
    return { ...answered, cpu: (threadTime() - before) / answered.latencies.length }
  }
}

/** Milliseconds that the main thread has run: unlike the clock, it stands still while other programs have the processor. */
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

/** One contestant beside the first of its table. */
export function row(name: string, runs: readonly Measured[], first: readonly Measured[], target?: number): string[] {
  const cpu = (of: readonly Measured[]) => of.map((run) => run.cpu)
  const figures = [median(at(runs, 0.5)), median(at(runs, 0.99)), median(cpu(runs))].map((figure) => figure.toFixed(3))
  if (runs === first) return [name, ...figures, '1', '1', '']
  const found = ratio(at(runs, 0.5), at(first, 0.5))
  return [name, ...figures, found.text, ratio(cpu(runs), cpu(first)).text, target === undefined ? '' : judged(found, target)]
}
