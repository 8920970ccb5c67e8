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
 * @param names the arguments that are not options, such as FILE; one that may be missing is in brackets
 * @throws UsageError
 */
export function readArguments<const O extends Options>(
  args: readonly string[],
  options: O,
  names: readonly string[]
): { readonly values: Values<O>; readonly operands: readonly string[] } {
  const { values, positionals } = parse(args, options)
  for (const [i, name] of names.entries()) {
    if (positionals[i] === undefined && !name.startsWith('[')) throw new UsageError(`${name} is missing`)
    // A variable of the shell that is not set makes an empty argument.
    if (positionals[i]?.trim() === '') throw new UsageError(`${name.replace(/[[\]]/g, '')} is empty`)
  }
  if (positionals.length > names.length) throw new UsageError(`unexpected argument ${JSON.stringify(positionals[names.length])}`)
  return { values, operands: positionals }
}

function parse<const O extends Options>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? explainOption(error.message) : String(error))
  }
}

/** Rewrites Node's message about an option in the words of the commands. Other messages stay as they are. */
function explainOption(message: string): string {
  const [, unknown] = /^Unknown option '([^']*)'/.exec(message) ?? []
  if (unknown !== undefined) return `there is no option ${unknown}`
  const [, bare] = /^Option '(?:-\w, )?(--[\w-]+) <value>' argument missing/.exec(message) ?? []
  return bare === undefined ? message : `${bare} needs a value`
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
