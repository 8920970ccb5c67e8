/** Explains to the operator in one line why a database on a server cannot be opened. The password is never shown. */

import pg from 'pg'
import { DomainError, StoreOpenError } from '../../domain/errors.ts'
import { isBug } from './failures.ts'
import { refuseUnknownTls, withCheckedTls } from './tls-mode.ts'

/** The parts of the database URL, as the driver parsed it. */
export type Target = Pick<pg.Client, 'host' | 'port' | 'user' | 'database'>

/** The problem and its solution, by SQLSTATE. */
const reasons: readonly (readonly [code: RegExp, reason: (target: Target, server: string, message: string) => string])[] = [
  [
    /^28/,
    ({ user }, server, message) =>
      `${server} refuses the user ${name(user)} (${message}): correct the user and the password in DATABASE_URL`
  ],
  [/^3D000$/, ({ database }, server) => `${server} has no database ${name(database)}: create it, or correct its name in DATABASE_URL`],
  [
    /^42501$/,
    ({ user, database }, server, message) =>
      `the user ${name(user)} has no right to this in the database ${name(database)} of ${server} (${message}): make it the database's owner`
  ],
  [/^(42P07|42710|42703)$/, (target, _, message) => foreignDatabase(target, message).message],
  [/^25006$/, (_, server, message) => `${server} is read-only now (${message}): set DATABASE_URL to the server that accepts writes`],
  [/^(08|53|55000$|55P03|57|58)/, (_, server, message) => `${server} cannot be used now (${message}): check its log, or try again later`]
]

function name(text: string | undefined): string {
  return JSON.stringify(text ?? '')
}

/** The name of a database and its server for a message. */
export function databaseName(target: Target): string {
  return `the database ${name(target.database)} of ${serverName(target)}`
}

/** @param reason what shows that the database is foreign */
export function foreignDatabase(target: Target, reason: string): StoreOpenError {
  return new StoreOpenError(
    `${databaseName(target)} is of something else, not of Tradepost (${reason}): give Tradepost a database of its own`
  )
}

function serverName({ host, port }: Target): string {
  return host.startsWith('/') ? `PostgreSQL at the socket ${host}` : `PostgreSQL at ${host}:${port}`
}

/** Node's codes for a certificate that it does not trust (https://nodejs.org/api/tls.html#x509-certificate-error-codes). */
const untrusted = /^(CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER|VERIFY)|ERR_TLS_CERT_ALTNAME)/

/** Matches a URL with a password that is not percent-encoded. Its host may be a part of the password, so the URL is never shown. */
const strayPassword = /^[^/]*\/\/[^/?#@]*:[^/?#@]*[/?#][^=]*@/

/** @throws StoreOpenError if the URL cannot be parsed, or a file that it names cannot be read */
export function makeClient(url: string, options: pg.ClientConfig): pg.Client {
  const unreadable =
    'DATABASE_URL cannot be read: write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters of the password percent-encoded (%23 for #)'
  if (strayPassword.test(url)) throw new StoreOpenError(unreadable)
  refuseUnknownTls(url)
  try {
    return new pg.Client({ ...options, connectionString: withCheckedTls(url) })
  } catch (error) {
    // The error of a malformed URL shows the whole URL, with the password.
    const isFile = error instanceof Error && 'syscall' in error
    throw new StoreOpenError(isFile ? `a file that DATABASE_URL names cannot be read: ${error.message}` : unreadable)
  }
}

/** Turns an error of opening a database into a StoreOpenError, if it can be explained. */
export function openError(error: unknown, target: Target): unknown {
  const reason = error instanceof DomainError ? error.cause : error
  if (!(reason instanceof Error) || reason instanceof StoreOpenError || isBug(reason)) return error
  const server = serverName(target)
  if (reason instanceof pg.DatabaseError) {
    const found = reasons.find(([code]) => code.test(reason.code ?? ''))
    return found ? new StoreOpenError(found[1](target, server, reason.message), { cause: error }) : error
  }
  const message = reason.message || String('code' in reason ? reason.code : reason.name)
  if (message.startsWith('SASL')) {
    return new StoreOpenError(`${server} asks for a password, but the one in DATABASE_URL is missing or cannot be used (${message})`, {
      cause: error
    })
  }
  if (/does not support SSL/.test(message)) {
    return new StoreOpenError(`${server} has no TLS (${message}): turn it on there, or leave sslmode out of DATABASE_URL`, { cause: error })
  }
  if ('code' in reason && untrusted.test(String(reason.code))) {
    const advice = 'add sslrootcert=/path/ca.pem to DATABASE_URL, or use the host name that it is for'
    return new StoreOpenError(`${server} has a certificate that is not trusted (${message}): ${advice}`, { cause: error })
  }
  return new StoreOpenError(`${server} cannot be reached (${message}): start it, or correct DATABASE_URL`, { cause: error })
}
