import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type Config, readConfig } from '../config.ts'
import type { Store } from '../domain/store.ts'
import { openStore } from '../stores/open.ts'

/** 0: done; 1: failed. For wrong usage (2), a command throws UsageError. */
export type ExitStatus = 0 | 1

export interface Command {
  /** The words after `tradepost`, such as `keys create`. */
  readonly name: string
  /** The arguments and options, as shown in the usage line. */
  readonly synopsis: string
  /** One line for the list of commands. */
  readonly about: string
  /** The rest of the `--help` text. */
  readonly help: string
  /** @throws UsageError, Failure, ConfigError, and the errors of the store */
  run(args: readonly string[]): Promise<ExitStatus>
}

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command failed. The message is for the person who runs it. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values']

/**
 * Parses a command line.
 * @param operands the least and the most number of arguments, not counting options
 * @throws UsageError
 */
export function readArguments<const O extends Options>(
  args: readonly string[],
  options: O,
  operands: readonly [least: number, most: number]
): { readonly values: Values<O>; readonly operands: readonly string[] } {
  const { values, positionals } = parse(args, options)
  if (positionals.length < operands[0]) throw new UsageError('an argument is missing')
  if (positionals.length > operands[1])
    throw new UsageError(`there are too many arguments: the first that is not expected is ${JSON.stringify(positionals[operands[1]])}`)
  return { values, operands: positionals }
}

function parse<const O extends Options>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    // The second sentence of Node's message on an unknown option is about positional arguments, and has a quote that is never closed.
    throw new UsageError(error instanceof Error ? error.message.replace(/\. .*/s, '') : String(error))
  }
}

type UseStore<T> = (store: Store, config: Config) => Promise<T>

/**
 * Opens the store of DATABASE_URL, and closes it after use. A running service may have it open at the same time. If there was
 * no SQLite database, standard error says that one was made.
 */
export async function withStore<T>(use: UseStore<T>): Promise<T> {
  const config = readConfig()
  const missing = missingFile(config.DATABASE_URL)
  return openAndUse(config, (store) => {
    if (missing !== undefined) process.stderr.write(`made a new database at ${missing}\n`)
    return use(store, config)
  })
}

/** Does the same as `withStore`, but makes no database. @throws Failure if there is none */
export async function withExistingStore<T>(use: UseStore<T>): Promise<T> {
  const config = readConfig()
  requireDatabase(config.DATABASE_URL)
  return openAndUse(config, use)
}

/** Does the same as `withStore`, but makes no database: if there is none, the store is that of an empty one in a temporary folder. */
export async function withStoreForDryRun<T>(use: UseStore<T>): Promise<T> {
  const config = readConfig()
  if (missingFile(config.DATABASE_URL) === undefined) return openAndUse(config, use)
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-dry-run-'))
  try {
    return await openAndUse({ ...config, DATABASE_URL: `sqlite:${join(folder, 'empty.db')}` }, use)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function openAndUse<T>(config: Config, use: UseStore<T>): Promise<T> {
  const store = await openStore(config.DATABASE_URL, config.CURRENCY)
  try {
    return await use(store, config)
  } finally {
    await store.close()
  }
}

/** @throws Failure if the URL names a SQLite database that does not exist */
export function requireDatabase(url: string): void {
  const missing = missingFile(url)
  if (missing !== undefined) throw new Failure(`there is no database at ${missing}: check DATABASE_URL`)
}

/** The absolute path of a SQLite database that does not exist. */
function missingFile(url: string): string | undefined {
  if (!url.startsWith('sqlite:')) return undefined
  const path = resolve(url.slice('sqlite:'.length))
  try {
    return statSync(path, { throwIfNoEntry: false }) ? undefined : path
  } catch {
    // This user may not look for it. Opening it gives the reason.
    return undefined
  }
}
