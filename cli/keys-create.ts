import { randomBytes } from 'node:crypto'
import { type Scope, scopes } from '../domain/caller.ts'
import { hashKey } from '../http/credentials.ts'
import { type Command, readArguments, UsageError, withStore } from './command.ts'

/** Of randomness in a key. */
const keyBytes = 32

const day = 24 * 60 * 60 * 1000

export const keysCreate: Command = {
  name: 'keys create',
  synopsis: '--name NAME --scopes SCOPE[,SCOPE...] [--expires DATE|DAYS]',
  about: 'make an API key and print it',
  help: `Prints the key, alone, on standard output. Only a digest of it is stored: it cannot be shown again.

  --name NAME      whose key it is; all keys of one name are one customer
  --scopes LIST    what it may do, separated by commas:
                     order       place orders, see and change its own
                     catalogue   write products and stock
                     fulfilment  see all orders, set their status
  --expires WHEN   the last day on which it works, such as 2027-12-31 (in UTC), a time such as
                   2027-12-31T18:00:00Z, or a number of days; without it the key works until it is revoked`,

  async run(args) {
    const { values } = readArguments(args, { name: { type: 'string' }, scopes: { type: 'string' }, expires: { type: 'string' } }, [0, 0])
    const customer = readName(values.name)
    const granted = readScopes(values.scopes)
    const expiresAt = values.expires === undefined ? undefined : readExpiry(values.expires, Date.now())
    const key = `tp_${randomBytes(keyBytes).toString('base64url')}`
    await withStore((store) =>
      store.createKey({ customer, scopes: granted, hash: hashKey(key), ...(expiresAt === undefined ? {} : { expiresAt }) })
    )
    process.stdout.write(`${key}\n`)
    return 0
  }
}

function readName(text: string | undefined): string {
  if (text === undefined) throw new UsageError('--name is missing')
  if (!/^[^\p{Cc}]{1,256}$/u.test(text) || text.trim() === '')
    throw new UsageError('--name must be 1 to 256 characters, no control characters')
  return text
}

function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) throw new UsageError('--scopes is missing')
  const named = text.split(',').map((name) => name.trim())
  for (const name of named) {
    if (!scopes.some((scope) => scope === name))
      throw new UsageError(`there is no scope ${JSON.stringify(name)}; there are ${scopes.join(', ')}`)
  }
  return scopes.filter((scope) => named.includes(scope))
}

/** @returns milliseconds since the epoch, after `now` */
function readExpiry(text: string, now: number): number {
  const at = expiry(text, now)
  if (Number.isNaN(at))
    throw new UsageError(`--expires must be a date such as 2027-12-31, or a number of days, not ${JSON.stringify(text)}`)
  if (at <= now) throw new UsageError(`--expires must be in the future: ${text} is over`)
  return at
}

function expiry(text: string, now: number): number {
  if (/^\d{1,5}$/.test(text)) return now + Number(text) * day
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return onCalendar(text) ? Date.parse(text) + day : Number.NaN
  const time = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.exec(text)
  return time && onCalendar(time[1] ?? '') ? Date.parse(text) : Number.NaN
}

/** Whether there is such a day: Date rolls 30 February over to March. */
function onCalendar(date: string): boolean {
  const at = Date.parse(date)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}
