/** Decides which addresses may be called. Customers choose the URLs, which must not reach the shop's own network. */

import { lookup as lookupName, Resolver } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readRange } from '../fairness/address-range.ts'

export class TargetError extends Error {
  override readonly name = 'TargetError'
}

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

/** Finds the addresses of a host name. @throws Error with a `code` of node:dns */
export type Resolve = (host: string, trusted: boolean) => Promise<readonly Address[]>

/** IPv4 addresses that are not public (IANA's registry of special-purpose addresses), and the relays of 6to4. */
const special4: readonly [network: string, bits: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4]
]

/** The public IPv6 addresses, and the exceptions: those that embed an IPv4 address, and those for documentation. */
const global6: [network: string, bits: number] = ['2000::', 3]
const special6: readonly [network: string, bits: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20]
]

const notPublic4 = new BlockList()
for (const [network, bits] of special4) notPublic4.addSubnet(network, bits, 'ipv4')
const public6 = new BlockList()
public6.addSubnet(...global6, 'ipv6')
const notPublic6 = new BlockList()
for (const [network, bits] of special6) notPublic6.addSubnet(network, bits, 'ipv6')

/** Whether the address is one of the public internet. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !notPublic4.check(address, 'ipv4')
  // An IPv4-mapped address and one of NAT64 are not in 2000::/3.
  return isIP(address) === 6 && public6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6')
}

/** Hosts and addresses that the operator allows beside the public ones. */
interface Allowed {
  readonly hosts: ReadonlySet<string>
  readonly addresses: BlockList
}

function readAllowed(list: readonly string[]): Allowed {
  const hosts = new Set<string>()
  const addresses = new BlockList()
  for (const one of list) {
    const range = readRange(one)
    if (range) addresses.addSubnet(range.address, range.bits, range.family)
    else hosts.add(plainHost(one))
  }
  return { hosts, addresses }
}

const plainHost = (host: string) => host.toLowerCase().replace(/\.$/, '')

/** The host of a URL without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL) => plainHost(hostname.replace(/^\[|\]$/g, ''))

/** The most addresses of a host. An answer of a name server has room for 4,000, and each would be checked and called. */
const mostAddresses = 32

/** Milliseconds and attempts of a query to each name server. */
const querying = { timeout: 2_000, tries: 2 }

/**
 * Uses the system's look-up, which also reads the hosts file, only for names that the operator allows. It asks the name servers
 * directly for all others: a look-up of the system holds one of four threads until it is answered, and a customer's slow name server
 * would hold them all.
 */
export const resolveHost: Resolve = async (host, trusted) => {
  if (trusted) return (await lookupName(host, { all: true })) as readonly Address[]
  // RFC 6761 section 6.3.
  if (/(?:^|\.)localhost$/.test(host)) return [{ address: '127.0.0.1', family: 4 }]
  return askNameServers(host, new Resolver(querying))
}

/** @throws what the look-up throws. If one family has no address and the other cannot be looked up now, the latter counts. */
export async function askNameServers(host: string, resolver: Resolver): Promise<readonly Address[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = answers.flatMap((answer, i) =>
    answer.status === 'fulfilled' ? answer.value.map((address): Address => ({ address, family: i === 0 ? 4 : 6 })) : []
  )
  const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
  if (found.length === 0 && failures.length > 0) throw failures.find((failure) => !isUnknownHost(failure)) ?? failures[0]
  return found
}

/** Whether a look-up failed because the host is not there, and not only for now. */
function isUnknownHost(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(String((error as NodeJS.ErrnoException).code))
}

/** A URL that can be called, wherever it leads. @throws TargetError */
function readUrl(text: string): URL {
  // The parser would remove these characters silently, or make slashes of backslashes (WHATWG URL, section 4.4).
  if (/[\s\p{Cc}\\]/u.test(text)) refuse('The URL must not have spaces, control characters or backslashes.')
  const url = URL.canParse(text) ? new URL(text) : refuse('This is not an absolute URL.')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse('The URL must begin with https://.')
  if (!/^https?:\/\/[^/]/i.test(text)) refuse('The URL must begin with https:// and a host.')
  if (url.username !== '' || url.password !== '') refuse('The URL must not have a user name or a password.')
  if (text.includes('#')) refuse('The URL must not have a fragment (#).')
  if (url.port === '0') refuse('The URL must not have the port 0.')
  return url
}

/** Characters of a host and of its parts (RFC 1035 section 2.3.4). */
const longest = { name: 253, label: 63 }

/** Underscores are allowed, because some hosts have them. @param host without a dot at its end */
function checkName(host: string): void {
  if (host.length > longest.name) refuse(`The host has more than ${longest.name} characters.`)
  for (const label of host.split('.')) {
    if (label === '') refuse('The host has an empty part between two dots.')
    if (label.length > longest.label) refuse(`A part of the host has more than ${longest.label} characters.`)
    if (!/^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/.test(label)) refuse(`The host has a part that cannot be in a name: ${label}`)
  }
}

export class Targets {
  readonly #allowed: Allowed
  readonly #resolve: Resolve
  readonly #checkTime: number

  /**
   * @param allow the setting WEBHOOK_ALLOW: host names, addresses and ranges of addresses (CIDR)
   * @param checkTime milliseconds for which `check` waits for the look-up
   */
  constructor(allow: readonly string[], resolve: Resolve = resolveHost, checkTime = 5_000) {
    this.#allowed = readAllowed(allow)
    this.#resolve = resolve
    this.#checkTime = checkTime
  }

  /** Checks a URL without a look-up of its host. @throws TargetError */
  read(text: string): URL {
    const url = readUrl(text)
    const host = hostOf(url)
    if (url.protocol === 'http:' && !this.#isNamed(host))
      refuse('The URL must begin with https://. Plain http is only for hosts that the shop allows.')
    if (isIP(host) !== 0) this.#check(host, host)
    else checkName(host)
    return url
  }

  /** Checks the URL and the present addresses of its host. A host that cannot be looked up now passes. @throws TargetError */
  async check(text: string): Promise<void> {
    const host = hostOf(this.read(text))
    if (isIP(host) !== 0) return
    const done = new AbortController()
    try {
      await Promise.race([this.addresses(host), sleep(this.#checkTime, undefined, done)])
    } catch (error) {
      if (error instanceof TargetError) throw error
      if (isUnknownHost(error)) refuse(`The host ${host} cannot be found.`)
    } finally {
      done.abort()
    }
  }

  /**
   * Looks up the addresses of a host and checks each. The caller must connect to one of them, because a second look-up could
   * find another address (DNS rebinding).
   * @throws TargetError, and what the look-up throws
   */
  async addresses(name: string): Promise<readonly Address[]> {
    const host = plainHost(name)
    const found = await this.#resolve(host, this.#allowed.hosts.has(host))
    if (found.length === 0) throw Object.assign(new Error('the host has no address'), { code: 'ENOTFOUND' })
    if (found.length > mostAddresses) refuse(`The host ${host} has more than ${mostAddresses} addresses.`)
    for (const { address } of found) this.#check(host, address)
    return found
  }

  #isNamed(host: string): boolean {
    return this.#allowed.hosts.has(host) || (isIP(host) !== 0 && this.#isAllowedAddress(host))
  }

  #isAllowedAddress(address: string): boolean {
    return this.#allowed.addresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }

  #check(host: string, address: string): void {
    if (this.#allowed.hosts.has(host) || this.#isAllowedAddress(address) || isPublic(address)) return
    refuse(
      host === address
        ? `The address ${address} is not public.`
        : `The host ${host} has an address that is not public. The shop calls it only if its operator allows it.`
    )
  }
}

function refuse(message: string): never {
  throw new TargetError(message)
}
