/** Why a database on a server cannot be opened, in one line for who runs the shop. Never the password. */

import pg from 'pg'
import { DomainError, StoreOpenError } from '../../domain/errors.ts'

/** As the driver has read the URL. */
export type Target = Pick<pg.Client, 'host' | 'port' | 'user' | 'database'>

/** By SQLSTATE: what is wrong, and what to do. */
const reasons: readonly (readonly [code: RegExp, reason: (target: Target, server: string, said: string) => string])[] = [
  [
    /^28/,
    ({ user }, server, said) => `${server} refuses the user ${name(user)} (${said}): correct the user and the password in DATABASE_URL`
  ],
  [/^3D000$/, ({ database }, server) => `${server} has no database ${name(database)}: create it, or correct its name in DATABASE_URL`],
  [
    /^42501$/,
    ({ user, database }, server, said) =>
      `the user ${name(user)} has no right to this in the database ${name(database)} of ${server} (${said}): make it the database's owner`
  ],
  [
    /^(42P07|42710|42703)$/,
    ({ database }, server, said) =>
      `the database ${name(database)} of ${server} is of something else, not of Tradepost (${said}): give Tradepost a database of its own`
  ],
  [/^25006$/, (_, server, said) => `${server} takes no writes now (${said}): name the server that does in DATABASE_URL`],
  [/^(08|53|55P03|57|58)/, (_, server, said) => `${server} cannot be used now (${said}): look at its log, or try again soon`]
]

function name(text: string | undefined): string {
  return JSON.stringify(text ?? '')
}

/** A database on its server, as messages name it. */
export function databaseName(target: Target): string {
  return `the database ${name(target.database)} of ${serverName(target)}`
}

function serverName({ host, port }: Target): string {
  return host.startsWith('/') ? `PostgreSQL at the socket ${host}` : `PostgreSQL at ${host}:${port}`
}

/** A part of a password that is not percent-encoded is taken for the host: then nothing of the URL is shown. */
const strayPassword = /^[^/]*\/\/[^/?#@]*:[^/?#@]*[/?#][^=]*@/

/** @throws StoreOpenError when the URL cannot be read */
export function makeClient(url: string, options: pg.ClientConfig): pg.Client {
  const unreadable =
    'DATABASE_URL cannot be read: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters of the password percent-encoded (%23 for #)'
  if (strayPassword.test(url)) throw new StoreOpenError(unreadable)
  try {
    return new pg.Client({ ...options, connectionString: url })
  } catch (error) {
    // Of a URL that is wrong the error shows all, with the password.
    const isFile = error instanceof Error && 'syscall' in error
    throw new StoreOpenError(isFile ? `a file that DATABASE_URL names cannot be read: ${error.message}` : unreadable)
  }
}

/** An error of opening as the store throws it. */
export function openError(error: unknown, target: Target): unknown {
  const reason = error instanceof DomainError ? error.cause : error
  if (!(reason instanceof Error) || reason instanceof StoreOpenError || isMistake(reason)) return error
  const server = serverName(target)
  if (reason instanceof pg.DatabaseError) {
    const found = reasons.find(([code]) => code.test(reason.code ?? ''))
    return found ? new StoreOpenError(found[1](target, server, reason.message), { cause: error }) : error
  }
  const said = reason.message || String('code' in reason ? reason.code : reason.name)
  if (said.startsWith('SASL')) {
    return new StoreOpenError(`${server} asks for a password that DATABASE_URL does not have as it must (${said})`, { cause: error })
  }
  return new StoreOpenError(`${server} cannot be reached (${said}): start it, or correct DATABASE_URL`, { cause: error })
}

/** Of this code, not of the server or the network. */
function isMistake(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}
