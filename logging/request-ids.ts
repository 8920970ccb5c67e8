import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The network names that Fastify's `trustProxy` accepts. */
const networks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
}

function family(address: string): 'ipv4' | 'ipv6' | undefined {
  return isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined
}

function blockList(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const [address = '', prefix] of addresses.flatMap((one) => networks[one] ?? one).map((one) => one.split('/'))) {
    const kind = family(address)
    if (kind) list.addSubnet(address, prefix === undefined ? (kind === 'ipv4' ? 32 : 128) : Number(prefix), kind)
  }
  return list
}

const acceptableId = /^[A-Za-z0-9._:=+-]{1,128}$/

/**
 * Makes the function that gives each request its id. X-Request-Id is accepted from a trusted proxy only, so that both
 * logs use the same id. A generated id is not a UUID, because that would look like an order's id and be masked.
 */
export function makeRequestIds(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = blockList(trustedProxies)
  return (request) => {
    const given = request.headers['x-request-id']
    const from = request.socket?.remoteAddress ?? ''
    const kind = family(from)
    if (typeof given === 'string' && acceptableId.test(given) && kind && trusted.check(from, kind)) return given
    return randomBytes(12).toString('hex')
  }
}
