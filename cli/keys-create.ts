import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { day } from '../config.ts'
import { endOfTime, existsInCalendar } from '../domain/calendar.ts'
import { mostCustomerCharacters, type Scope, scopes } from '../domain/caller.ts'
import type { Store } from '../domain/store.ts'
import { hashKey } from '../http/credentials.ts'
import { keyPrefix } from '../http/masked-names.ts'
import { isXmlText } from '../schemas/xml-characters.ts'
import { diskReason } from '../stores/disk.ts'
import { type Command, Failure, readArguments, UsageError, withStore } from './command.ts'

/** The file descriptor. */
const standardOutput = 1

/** Bytes of randomness in a key. */
const keyBytes = 32

export const keysCreate: Command = {
  name: 'keys create',
  synopsis: '--name NAME --scopes SCOPE[,SCOPE...] [--expires DATE|TIME|DAYS]',
  about: 'make an API key and print it',
  help: `Prints only the key on standard output. The shop stores a digest of it, so the key cannot be shown again.

  --name NAME      the customer who gets the key; keys with the same name belong to one customer
  --scopes LIST    what the key may do, separated by commas:
                     order       place orders; see and change the orders of its customer
                     catalogue   write products and stock
                     fulfilment  see all orders, set their status and ship them
  --expires WHEN   the last day on which the key works, such as 2027-12-31 (in UTC), a time such as
                   2027-12-31T18:00:00Z, or a number of days; without it the key works until it is revoked`,

  async run(args) {
    const { values } = readArguments(args, { name: { type: 'string' }, scopes: { type: 'string' }, expires: { type: 'string' } }, [])
    const customer = readName(values.name)
    const granted = readScopes(values.scopes)
    const expiresAt = values.expires === undefined ? undefined : readExpiry(values.expires, Date.now())
    const key = `${keyPrefix}${randomBytes(keyBytes).toString('base64url')}`
    await withStore(async (store) => {
      const { id } = await store.createKey({
        customer,
        scopes: granted,
        hash: hashKey(key),
        ...(expiresAt === undefined ? {} : { expiresAt })
      })
      await printOrRevoke(store, id, key)
    })
    return 0
  }
}

/** Prints a key, or revokes it: a key that was not printed would be active, and nobody would have it. @throws Failure when it cannot be printed */
async function printOrRevoke(store: Store, id: string, key: string): Promise<void> {
  try {
    // process.stdout does not notice a write that is cut short by a full disk, and makes a pipe fail when it is full.
    writeFileSync(standardOutput, `${key}\n`)
  } catch (error) {
    const isRevoked = await store.revokeKey(id).catch(() => false)
    const outcome = isRevoked ? `the key ${id} was revoked` : `revoke the key ${id} with \`tradepost keys revoke ${id}\``
    throw new Failure(`standard output cannot be written: ${diskReason(error) ?? String(error)}; ${outcome}`)
  }
}

const customerName = new RegExp(`^[^\\p{Cc}]{1,${mostCustomerCharacters}}$`, 'u')

function readName(text: string | undefined): string {
  if (text === undefined) throw new UsageError('--name is missing')
  if (!customerName.test(text) || !isXmlText(text) || text.trim() === '')
    throw new UsageError(`--name must have 1 to ${mostCustomerCharacters} characters and no control characters`)
  return text
}

function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) throw new UsageError('--scopes is missing')
  const named = text.split(',').map((name) => name.trim())
  for (const name of named) {
    if (!scopes.some((scope) => scope === name)) throw new UsageError(noScope(name))
  }
  return scopes.filter((scope) => named.includes(scope))
}

function noScope(name: string): string {
  return `there is no scope ${JSON.stringify(name)}: use ${scopes.join(', ')}, or several of them with commas between`
}

/** @returns milliseconds since the epoch, after `now` */
function readExpiry(text: string, now: number): number {
  const at = expiry(text, now)
  if (Number.isNaN(at))
    throw new UsageError(
      `--expires must be a date such as 2027-12-31, a time such as 2027-12-31T18:00:00Z, or a number of days, not ${JSON.stringify(text)}`
    )
  if (at >= endOfTime) throw new UsageError('--expires must be before the year 10000; without it the key works until it is revoked')
  if (at <= now) throw new UsageError(`--expires must be in the future, and ${text} is not`)
  return at
}

/** The end of the year 9999, which stands for "never" in many systems. */
const lastSecond = endOfTime - 1_000

function expiry(text: string, now: number): number {
  if (/^\d{1,5}$/.test(text)) return now + Number(text) * day
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return existsInCalendar(text) ? Math.min(Date.parse(text) + day, lastSecond) : Number.NaN
  const time = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.exec(text)
  return time && existsInCalendar(time[1] ?? '') ? Date.parse(text) : Number.NaN
}
