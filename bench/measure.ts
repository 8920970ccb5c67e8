/** The parts of every benchmark: seeded random numbers, percentiles, interleaved rounds, and Markdown tables. */

import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

/** Random numbers from 0 to 1 (exclusive). The same seed gives the same numbers (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(next: () => number, from: readonly T[]): T {
  return from[Math.floor(next() * from.length)] as T
}

/** A percentile by the nearest-rank method. @param share from 0 to 1 */
export function percentile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export function median(values: Iterable<number>): number {
  return percentile(values, 0.5)
}

export type Contest<Name extends string, Figure> = Readonly<Record<Name, () => Promise<Figure>>>

/**
 * Runs contestants in turn, in a new order each round, so that other load on the machine affects all alike. The first round
 * is a warm-up and is not counted.
 * @returns the figures of each, by round
 */
export async function interleave<Name extends string, Figure>(
  rounds: number,
  contest: Contest<Name, Figure>,
  seed: number
): Promise<Record<Name, Figure[]>> {
  const next = random(seed)
  const names = Object.keys(contest) as Name[]
  const figures = Object.fromEntries(names.map((name): [Name, Figure[]] => [name, []])) as Record<Name, Figure[]>
  for (let round = 0; round <= rounds; round++) {
    const order = names.map((name) => ({ name, at: next() })).sort((a, b) => a.at - b.at)
    for (const { name } of order) {
      const figure = await contest[name]()
      if (round > 0) figures[name].push(figure)
    }
  }
  return figures
}

/** The median of the ratios of two contestants, round by round, with the lowest and the highest ratio. */
export function ratio(figures: readonly number[], baseline: readonly number[]): { readonly middle: number; readonly text: string } {
  const ratios = figures.map((figure, round) => figure / (baseline[round] ?? Number.NaN))
  const [low, middle, high] = [Math.min(...ratios), median(ratios), Math.max(...ratios)]
  return { middle, text: `${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})` }
}

export function verdict({ middle }: { readonly middle: number }, target: number): string {
  return `≤ ${target.toFixed(2)}: ${middle <= target ? 'met' : 'missed'}`
}

export function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

export function print(...parts: readonly string[]): void {
  process.stdout.write(`${parts.join('\n\n')}\n\n`)
}

export interface Settings {
  readonly directory: string
  readonly rounds: number
  /** The duration of one run of one contestant. */
  readonly milliseconds: number
  readonly seed: number
  /** The folder of an earlier release that has been built, to compare with this one. */
  readonly before?: string
  /** Only rows that have this in their name are measured. */
  readonly only?: string
}

/** Options of a benchmark that compares this release with an earlier one. */
export const comparesReleases = ['before'] as const

/** Reads the command line of a bench that has the options `--rounds` and `--seconds` in addition to those of every bench. */
export function settings(
  defaults: { readonly rounds: number; readonly seconds: number },
  options: readonly ('before' | 'only')[] = []
): Settings {
  const { seconds, ...others } = commandLine(defaults, options)
  return { ...others, milliseconds: seconds * 1000 }
}

/**
 * Reads the command line. The options are one for each number of the defaults, one for each of `texts`, `--seed`, `--dir` and
 * `--force`. An unknown option, or a value that is not a number above 0, ends the bench with status 2.
 */
export function commandLine<Numbers extends Readonly<Record<string, number>>, Text extends string = never>(
  defaults: Numbers,
  texts: readonly Text[] = []
): Record<keyof Numbers | 'seed', number> & Partial<Record<Text, string>> & { readonly directory: string } {
  try {
    const numbers: Record<string, number> = { seed: 1, ...defaults }
    const text = { type: 'string' } as const
    const named = Object.fromEntries([...Object.keys(numbers), ...texts].map((name) => [name, text]))
    const { dir, force, ...others } = parseArgs({ options: { ...named, dir: text, force: { type: 'boolean' } } }).values
    const values: Readonly<Record<string, string>> = others
    const directory = dir ?? tmpdir()
    mkdirSync(directory, { recursive: true })
    if (fileSystem(directory) === 'memory' && !force) {
      throw new Error(`${directory} is in memory, where fsync is free: name a directory on a disk with --dir, or add --force`)
    }
    const numberOptions = Object.entries(numbers).map(([name, fallback]) => {
      const number = Number(values[name] ?? fallback)
      if (number > 0) return [name, number]
      throw new Error(`--${name} must be a number above 0`)
    })
    return { ...Object.fromEntries([...numberOptions, ...texts.map((name) => [name, values[name]])]), directory }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(2)
  }
}

/** TMPFS_MAGIC and RAMFS_MAGIC of Linux's magic.h. */
const inMemory = [0x01021994, 0x858458f6]

function fileSystem(directory: string): 'memory' | 'disk' {
  return process.platform === 'linux' && inMemory.includes(statfsSync(directory).type) ? 'memory' : 'disk'
}

/** Describes the machine in one line. */
export function machine(directory: string): string {
  const { model = 'unknown' } = cpus()[0] ?? {}
  const load = loadavg()[0]?.toFixed(1)
  const where = `${directory} (${fileSystem(directory)}; an fsync of 4 KiB takes ${fsyncTime(directory).toFixed(2)} ms, the median)`
  return `${cpus().length} × ${model}, load ${load}; Node ${process.version}; databases in ${where}.`
}

function fsyncTime(directory: string): number {
  return withFolder(directory, (folder) => {
    const file = openSync(join(folder, 'probe'), 'w')
    const page = Buffer.alloc(4096, 1)
    const times = Array.from({ length: 101 }, () => {
      const before = performance.now()
      writeSync(file, page)
      fsyncSync(file)
      return performance.now() - before
    })
    closeSync(file)
    return median(times)
  })
}

function withFolder<T>(directory: string, use: (folder: string) => T): T {
  const folder = newFolder(directory)
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function newFolder(directory: string): string {
  return mkdtempSync(join(directory, 'tradepost-bench-'))
}
