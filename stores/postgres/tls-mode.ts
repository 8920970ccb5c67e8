import { StoreOpenError } from '../../domain/errors.ts'

/** The parameters of TLS that the driver knows. It ignores all others, so a misspelt one would leave the connection unencrypted. */
const parameters = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation']

/** @throws StoreOpenError if the URL has a parameter that looks like one of TLS and is none */
export function refuseUnknownTls(url: string): void {
  const given = URL.canParse(url) ? [...new URL(url).searchParams.keys()] : []
  const unknown = given.find((name) => /ssl/i.test(name) && !parameters.includes(name))
  if (unknown === undefined) return
  throw new StoreOpenError(`DATABASE_URL has the parameter ${JSON.stringify(unknown)}, which is unknown: use ${parameters.join(', ')}`)
}

/** The modes of TLS that the driver takes as `verify-full`, with a warning of nine lines that a later version may not do so. */
const modes = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/g

/**
 * The URL of a database, with `verify-full` in place of a mode of TLS that means the same to the driver. So the service prints no warning,
 * and checks no less when the driver changes. With `uselibpqcompat`, the modes mean what they mean to psql, and stay.
 */
export function withCheckedTls(url: string): string {
  return /[?&]uselibpqcompat=true/.test(url) ? url : url.replace(modes, '$1verify-full')
}
