import { type Config, readConfig, settings } from '../config.ts'
import { type Command, readArguments } from './command.ts'
import { formatTable } from './table.ts'

export const config: Command = {
  name: 'config',
  synopsis: '',
  about: 'show the settings that are in effect',
  help: `Every setting as this environment gives it, or its default; passwords and other secrets are hidden.
A table on a terminal; otherwise NAME=VALUE lines.`,

  async run(args) {
    readArguments(args, {}, [0, 0])
    const shown = Object.entries(readConfig()).map(([name, value]) => [name, show(name as keyof Config, value)])
    const isTerminal = process.stdout.isTTY
    process.stdout.write(isTerminal ? formatTable(['SETTING', 'VALUE'], shown, true) : shown.map((pair) => `${pair.join('=')}\n`).join(''))
    return 0
  }
}

function show(name: keyof Config, value: unknown): string {
  if (name === 'DATABASE_URL') return hidePassword(String(value))
  if ('secret' in settings[name]) return value ? '***' : ''
  if (value === undefined) return settings[name].fallback === '' ? '' : 'off'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.join(',')
  if (typeof value === 'object' && value !== null && 'path' in value && 'origin' in value)
    return `${value.origin ?? ''}${value.path}` || '/'
  return String(value)
}

/** Of a server's URL only what is surely no secret: a password may also be in the query. */
function hidePassword(url: string): string {
  if (url.startsWith('sqlite:')) return url
  if (!URL.canParse(url)) return '(hidden)'
  const { protocol, username, host, pathname } = new URL(url)
  return `${protocol}//${username ? `${username}:***@` : ''}${host}${pathname}`
}
