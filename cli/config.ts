import { type Config, readConfig, settings } from '../config.ts'
import { type Command, readArguments } from './command.ts'
import { formatTable } from './table.ts'

export const config: Command = {
  name: 'config',
  synopsis: '',
  about: 'show the settings that are in effect',
  help: `Shows every setting with its value from the environment or its default. Passwords and other secrets are hidden.
Prints a table on a terminal, and NAME=VALUE lines otherwise.`,

  async run(args) {
    readArguments(args, {}, [])
    const rows = Object.entries(readConfig()).map(([name, value]) => [name, formatValue(name as keyof Config, value)])
    const isTerminal = process.stdout.isTTY
    process.stdout.write(isTerminal ? formatTable(['SETTING', 'VALUE'], rows, true) : rows.map((pair) => `${pair.join('=')}\n`).join(''))
    return 0
  }
}

function formatValue(name: keyof Config, value: unknown): string {
  if (name === 'DATABASE_URL') return hidePassword(String(value))
  if ('secret' in settings[name]) return value ? '***' : ''
  if (value === undefined) return settings[name].fallback === '' ? '' : 'off'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.join(',')
  if (typeof value === 'object' && value !== null && 'path' in value && 'origin' in value)
    return `${value.origin ?? ''}${value.path}` || '/'
  return String(value)
}

/** Shows only the parts of a server's URL that cannot be secret. The query may hold a password, too. */
function hidePassword(url: string): string {
  if (url.startsWith('sqlite:')) return url
  if (!URL.canParse(url)) return '(hidden)'
  const { protocol, username, host, pathname } = new URL(url)
  return `${protocol}//${username ? `${username}:***@` : ''}${host}${pathname}`
}
