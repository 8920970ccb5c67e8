import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type Config, readConfig } from '../config.ts'
import type { Store } from '../domain/store.ts'
import { openStore } from '../stores/open.ts'

/** 0: done; 1: failed. Wrong usage, 2, is an error that is thrown. */
export type ExitStatus = 0 | 1

export interface Command {
  /** What is typed after `tradepost`, such as `keys create`. */
  readonly name: string
  /** What follows the name: its arguments and options. */
  readonly synopsis: string
  /** One line, for the list of commands. */
  readonly about: string
  /** The rest of its `--help`. */
  readonly help: string
  /** @throws UsageError, Failure, and what the settings and the store throw */
  run(args: readonly string[]): Promise<ExitStatus>
}

/** The command line is not one that the command knows. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Why a command could not do its work, in words for who runs it. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values']

/**
 * @param operands how many arguments there must be and may be, besides options
 * @throws UsageError
 */
export function readArguments<const O extends Options>(
  args: readonly string[],
  options: O,
  operands: readonly [least: number, most: number]
): { readonly values: Values<O>; readonly operands: readonly string[] } {
  const { values, positionals } = parse(args, options)
  if (positionals.length < operands[0]) throw new UsageError('an argument is missing')
  if (positionals.length > operands[1]) throw new UsageError(`there is an argument too many: ${JSON.stringify(positionals[operands[1]])}`)
  return { values, operands: positionals }
}

function parse<const O extends Options>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** Opens the store of the settings for as long as it is used. It may be open in a running service at the same time. */
export async function withStore<T>(use: (store: Store, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig()
  const store = await openStore(config.DATABASE_URL, config.CURRENCY)
  try {
    return await use(store, config)
  } finally {
    await store.close()
  }
}
