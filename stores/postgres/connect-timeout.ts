import { StoreOpenError } from '../../domain/errors.ts'

/**
 * The time limit for making a connection, in milliseconds, from the parameter `connect_timeout` in a database's URL. The parameter is in
 * seconds, and 0 means no limit (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-CONNECT-TIMEOUT). The driver
 * ignores it.
 * @param fallback the limit if the URL has none
 * @throws StoreOpenError if the parameter is not a whole number
 */
export function connectTimeout(url: string, fallback: number): number {
  const seconds = URL.canParse(url) ? new URL(url).searchParams.get('connect_timeout') : null
  if (seconds === null) return fallback
  if (!/^\d{1,6}$/.test(seconds))
    throw new StoreOpenError(`connect_timeout in DATABASE_URL is ${JSON.stringify(seconds)}: give it as a whole number of seconds`)
  return Number(seconds) * 1000
}
