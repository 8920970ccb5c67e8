import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { readRange } from './fairness/address-range.ts'
import { illegalCharacter } from './schemas/xml-characters.ts'

/** One setting: its default as text, its parser, and its description in docs/operations.md. */
interface Setting<T> {
  readonly fallback: string
  readonly read: (text: string) => T
  readonly about: string
  /** Whether it is a secret: it may also come from a file, by `NAME_FILE`, and is never shown. */
  readonly secret?: true
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The value has another form than the setting needs. It is shown with the error, unless it is a secret. */
class WrongForm extends ConfigError {}

function fail(message: string): never {
  throw new ConfigError(message)
}

function mustBe(form: string): never {
  throw new WrongForm(`must be ${form}`)
}

const text = (value: string) => value

/** A text for documents of XML. */
function xmlText(value: string): string {
  const illegal = illegalCharacter(value)
  return illegal ? fail(`has a character that no XML document can have: ${illegal.name}`) : value
}

function oneOf<const T extends string>(...values: readonly T[]) {
  return (value: string): T => values.find((one) => one === value) ?? mustBe(`one of ${values.join(', ')}`)
}

const onOff = (value: string) => oneOf('on', 'off')(value) === 'on'

/** The most bytes that the bodies of all pending requests have together, and so the most that one body can have. */
export const mostBodies = 64 * 1024 * 1024

function integer(min: number, max: number = Number.MAX_SAFE_INTEGER, otherwise = '') {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  return (value: string): number => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? number : mustBe(`${otherwise}a whole number ${range}`)
  }
}

/** A day in milliseconds. */
export const day = 24 * 60 * 60 * 1000

/** Parses days, which may have fraction digits. */
function days(value: string): number {
  const number = /^\d{1,5}(\.\d{1,6})?$/.test(value) ? Number(value) : 0
  return number > 0 ? number : mustBe('a number of days above 0, such as 30 or 0.5')
}

function integerOrOff(min: number) {
  return (value: string): number | undefined => (value === 'off' ? undefined : integer(min, undefined, 'off, or ')(value))
}

function optionalPort(value: string): number | undefined {
  return value === '' ? undefined : integer(0, 65535)(value)
}

/** Replaces localhost by its address. For localhost Fastify starts two servers, and the second has neither limits nor error answers. */
function listenAddress(value: string): string {
  if (isIP(value) === 0 && !isHostName(value)) mustBe('an IP address or a host name')
  return value.toLowerCase() === 'localhost' ? '127.0.0.1' : value
}

function database(value: string): string {
  if (/^postgres(ql)?:\/\//.test(value)) return value
  if (!/^sqlite:./.test(value)) mustBe('sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
  // Other programs do not read these as paths. Without this check, the shop would make a file of that name.
  if (/^sqlite:(\/\/[^/]|~|:memory:|file:)/.test(value))
    fail('must have a plain path after sqlite:, such as sqlite:data/shop.db or sqlite:/var/lib/shop.db')
  return value
}

/** Parses a path prefix such as `/shop`, or an absolute URL. */
function baseUrl(value: string): { readonly path: string; readonly origin: string | undefined } {
  const absolute = /^https?:\/\//.test(value)
  if (!absolute && !value.startsWith('/')) mustBe('a path that starts with /, or an http(s) URL')
  if (!absolute && value.startsWith('//')) mustBe('a path of single slashes, or an http(s) URL')
  const url = URL.canParse(value, 'http://localhost') ? new URL(value, 'http://localhost') : fail('is not a URL')
  if (url.search || url.hash) fail('cannot have a query or a fragment')
  const path = url.pathname.replace(/\/+$/, '')
  if (/^\/(health|metrics)(\/|$)/.test(path)) fail('cannot begin with /health or /metrics, which are for the operator')
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(path)) fail('has characters in its path other than letters, digits and . _ ~ - /')
  return { path, origin: absolute ? url.origin : undefined }
}

function currency(value: string): string {
  return /^[A-Z]{3}$/.test(value) ? value : mustBe('an ISO 4217 code of three capital letters, such as EUR')
}

/** The parts of a list that commas or white space separate. */
function listed(value: string): readonly string[] {
  return value.split(/[\s,]+/).filter((part) => part !== '')
}

function isHostName(value: string): boolean {
  return /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(value)
}

/** Parses addresses and CIDR ranges of proxies. */
function proxies(value: string): readonly string[] {
  const list = listed(value)
  for (const one of list) {
    const range = readRange(one) ?? fail(`has ${JSON.stringify(one)}, which is no IP address or CIDR range`)
    if (range.bits === 0) fail(`has ${JSON.stringify(one)}, with which every client could choose its address. Name the proxies`)
  }
  return list
}

/** Parses host names, addresses and CIDR ranges. */
function hostsAndAddresses(value: string): readonly string[] {
  const list = listed(value)
  for (const one of list) {
    const [scheme] = /^[a-z]+:\/\//i.exec(one) ?? []
    if (!isHostName(one) && !readRange(one))
      fail(`has ${JSON.stringify(one)}, which is no host name, IP address or CIDR range${scheme ? `. Write it without ${scheme}` : ''}`)
  }
  return list
}

function setting<T>(fallback: string, read: (value: string) => T, about: string): Setting<T> {
  return { fallback, read, about }
}

/** Every setting of the service. A test compares the table of docs/operations.md with it. */
export const settings = {
  HOST: setting('127.0.0.1', listenAddress, 'the address to listen on (in the container `0.0.0.0`)'),
  PORT: setting('3000', integer(0, 65535), 'the port to listen on; 0 picks a free one, which the log names'),
  DATABASE_URL: { ...setting('sqlite:data/tradepost.db', database, '`sqlite:PATH`, or `postgres://…`'), secret: true as const },
  BASE_URL: setting('/', baseUrl, 'the path under which the service lives, such as `/shop`; or an absolute URL'),
  SHOP_NAME: setting('Tradepost', xmlText, 'the name that people see'),
  CURRENCY: setting('EUR', currency, "the shop's currency (ISO 4217); it stays with the database once there are prices"),
  SAMPLE_CATALOGUE: setting('on', onOff, 'load the sample into a new, empty database (in the container `off`)'),
  GUEST_ORDERS: setting('on', onOff, '`off`: orders need a key; guests then get 401 also for orders that they placed before'),
  ACCEPTANCE: setting('auto', oneOf('auto', 'manual'), '`manual`: orders start as `received` and wait for the seller'),
  TEST_ORDERS: setting(
    'check',
    oneOf('check', 'place'),
    "`place`: store orders that say that they are tests, on a supplier's test instance"
  ),
  BODY_LIMIT: setting('2097152', integer(1024, mostBodies), 'the largest request body, in bytes; 64 MiB at most'),
  MAX_ORDER_ITEMS: setting('10000', integer(1), 'the most items that an order can have'),
  MAX_URL_LENGTH: setting('4096', integer(256), 'the longest request target, in bytes'),
  MAX_HEADER_SIZE: setting(
    '16384',
    integer(2048, 1048576),
    'the most that a request line and its header fields can have together, in bytes'
  ),
  MAX_HEADERS: setting('100', integer(10, 2000), 'the most header fields of a request'),
  RATE_LIMIT: setting(
    '600',
    integerOrOff(1),
    'requests per minute of each key, or of each address without a key (see Limits for what counts as more); `off`'
  ),
  MAX_CONNECTIONS: setting(
    '4096',
    integer(1),
    'the most open connections. When all are used, a new client takes the place of one from the address or IPv6 network with the most; a new client from there is refused'
  ),
  OVERLOAD_DELAY: setting('1000', integerOrOff(10), 'answer 503 while the event loop is this late, in milliseconds; `off`'),
  SESSION_SECRET: {
    ...setting(
      '',
      text,
      'seals the sign-in cookies of people; it must be the same on every replica; if it is empty, each start makes a new one'
    ),
    secret: true as const
  },
  TRUST_PROXY: setting('', proxies, 'addresses or CIDRs of proxies whose forwarding headers count'),
  CACHE_MAX_AGE: setting('10', integer(0), 'seconds that a cache may use a product without revalidating'),
  CACHE_STALE_WHILE_REVALIDATE: setting('30', integer(0), 'further seconds that a cache may use it while it revalidates'),
  CACHE_STALE_IF_ERROR: setting('86400', integer(0), 'seconds that a cache may use it when the service cannot answer'),
  BODY_CACHE: setting('33554432', integer(0), 'memory for serialised representations, in bytes'),
  EVENTS_KEEP: setting('30', days, 'days for which events are kept, such as 30 or 0.5'),
  WEBHOOK_ALLOW: setting(
    '',
    hostsAndAddresses,
    'hosts, addresses or CIDRs that webhooks may call even if they are not public, and also without https'
  ),
  HEADERS_TIMEOUT: setting('10', integer(1, 86_400), "seconds for a request's headers to arrive"),
  REQUEST_TIMEOUT: setting('30', integer(1, 86_400), 'seconds for a whole request to arrive'),
  SEND_TIMEOUT: setting('30', integer(1, 86_400), 'seconds after which a client that reads nothing of its response is disconnected'),
  KEEP_ALIVE_TIMEOUT: setting('72', integer(1, 86_400), "seconds that an idle connection stays open; longer than a proxy's 60"),
  SHUTDOWN_DELAY: setting(
    '1',
    integer(0, 86_400),
    'seconds for which a stopping service still listens after it reports that it is not ready'
  ),
  SHUTDOWN_TIMEOUT: setting('10', integer(1, 86_400), 'seconds for which a stopping service lets requests in flight finish'),
  OPS_PORT: setting('', optionalPort, 'a separate port for health and metrics'),
  LOG_LEVEL: setting(
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'the least severe lines that are logged: `fatal`, `error`, `warn`, `info`, `debug` or `trace`; or `silent`'
  )
} as const

type Settings = typeof settings
export type Config = { readonly [K in keyof Settings]: ReturnType<Settings[K]['read']> }

/** Why the file of a secret cannot be read, to follow its name. */
function whyUnreadable(error: Error): string {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'which does not exist',
    ENOTDIR: 'which does not exist',
    EACCES: 'which this user has no permission to read',
    EPERM: 'which this user has no permission to read',
    EISDIR: 'which is a folder'
  }
  return reasons['code' in error ? String(error.code) : ''] ?? `which cannot be read: ${error.message}`
}

/**
 * Reads every setting once. `NAME_FILE` names a file that holds the value of a secret.
 * @throws ConfigError that lists every wrong setting
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const wrong: string[] = []
  const entries = Object.entries<Setting<unknown>>(settings).map(([name, { fallback, read, secret }]) => {
    const file = secret ? environment[`${name}_FILE`] : undefined
    // Compose sets unknown variables to an empty text. That must mean the default: an empty HOST would listen on all addresses.
    const given = environment[name] || fallback
    try {
      const value = file ? readFileSync(file, 'utf8').trim() : given
      if (file && value === '') wrong.push(`${name}_FILE: the file ${file} is empty`)
      else return [name, read(value)]
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const isUnreadable = file !== undefined && error instanceof Error && 'errno' in error
      const asGiven = error instanceof WrongForm && !secret ? `, not ${JSON.stringify(given)}` : ''
      wrong.push(isUnreadable ? `${name}_FILE names ${file}, ${whyUnreadable(error)}` : `${name} ${message}${asGiven}`)
    }
    return [name, undefined]
  })
  const config = Object.fromEntries(entries) as Config
  if (config.OPS_PORT && config.OPS_PORT === config.PORT) wrong.push(`OPS_PORT must be another port than PORT, which is ${config.PORT}`)
  if (wrong.length > 0) throw new ConfigError(wrong.join('\n'))
  return config
}

/** The environment for child processes: everything except the settings, since some are secrets. */
export function processEnvironment(): NodeJS.ProcessEnv {
  const own = Object.keys(settings).flatMap((name) => [name, `${name}_FILE`])
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.includes(name)))
}
