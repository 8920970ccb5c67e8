#!/usr/bin/env node
import { type Command, Failure, UsageError } from './cli/command.ts'
import { ConfigError } from './config.ts'
import { DomainError, StoreOpenError } from './domain/errors.ts'
import { explainLoadError, isLoadError } from './load-error.ts'
import { release } from './release.ts'
import { diskReason } from './stores/disk.ts'

/** Loads the commands. A package that was installed for another Node.js fails to load. */
async function loadCommands(): Promise<readonly Command[]> {
  try {
    return (await import('./cli/commands.ts')).commands
  } catch (error) {
    process.stderr.write(`tradepost: ${explain(error)}\n`)
    // Without exit(), Node.js 20 throws the error again, as an uncaught exception.
    process.exit(1)
  }
}

const commands = await loadCommands()

/** The commands with a first word, such as `keys`. */
function groupOf(word: string | undefined): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `))
}

/** @param shown the commands of the list */
function overview(shown: readonly Command[]): string {
  const width = Math.max(...shown.map(({ name }) => name.length))
  const list = shown.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')
  return `Usage: tradepost COMMAND [ARGUMENT...]

${list}

Run tradepost COMMAND --help for help on a command, or tradepost version for the version.
Commands read the same environment variables as the service, such as DATABASE_URL.
Exit status: 0 done, 1 failed, 2 wrong usage.
`
}

function usage({ name, synopsis }: Command): string {
  return `Usage: tradepost ${name}${synopsis && ` ${synopsis}`}\n`
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((part, i) => part === words[i]))
}

function hasOption(option: string, args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes(option)
}

async function run(words: readonly string[]): Promise<number> {
  const [first = '', ...rest] = words
  const wantsHelp = hasOption('--help', words) || hasOption('-h', words)
  if (first === 'help') return printHelp(rest)
  if (wantsHelp) return printHelp(words)
  const command = findCommand(words)
  if (command) return command.run(words.slice(command.name.split(' ').length))
  if (['version', '--version', '-v'].includes(first)) return print(`${release}\n`)
  throw new UsageError(explainUnknown(words))
}

/** Prints the help of a command, of the commands with a first word, or of all. */
function printHelp(words: readonly string[]): 0 {
  const command = findCommand(words)
  if (command) return print(`${usage(command)}\n${command.help}\n`)
  const group = groupOf(words[0])
  return print(overview(group.length > 0 ? group : commands))
}

/** Says what is wrong with words that name no command. */
function explainUnknown([word, next]: readonly string[]): string {
  if (word === undefined) return 'a command is missing'
  const group = groupOf(word).map(({ name }) => name)
  if (group.length === 0) return `there is no command ${JSON.stringify(word)}`
  const choice = `use ${group.join(', ')}`
  return next === undefined
    ? `the command ${word} needs a second word: ${choice}`
    : `there is no command ${JSON.stringify(`${word} ${next}`)}: ${choice}`
}

function print(text: string): 0 {
  process.stdout.write(text)
  return 0
}

/** Prints an error without its stack trace. @returns the exit status */
function report(error: unknown, words: readonly string[]): 1 | 2 {
  const command = findCommand(words)
  if (error instanceof UsageError) {
    process.stderr.write(`tradepost: ${error.message}\n${command ? usage(command) : 'Run tradepost --help for the list of commands.\n'}`)
    return 2
  }
  process.stderr.write(`tradepost: ${explain(error)}\n`)
  return 1
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `the settings are wrong:\n${error.message.replace(/^/gm, '  ')}`
  if (!(error instanceof Error)) return String(error)
  if (isLoadError(error)) return explainLoadError(error)
  if (error instanceof Failure || error instanceof StoreOpenError) return error.message
  const cause = error.cause instanceof Error ? error.cause.message : error.cause
  if (cause === undefined) return error.message
  // The message of a DomainError is for clients. Its cause names the file or server, and the reason.
  return error instanceof DomainError && error.code === 'store-unavailable' ? String(cause) : `${error.message} (${cause})`
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EPIPE means that the reader of the output, such as `head`, has closed it.
  if (error.code !== 'EPIPE') process.stderr.write(`tradepost: standard output cannot be written: ${diskReason(error) ?? error.message}\n`)
  process.exit(1)
})

const words = process.argv.slice(2)
try {
  process.exitCode = await run(words)
} catch (error) {
  process.exitCode = report(error, words)
}
