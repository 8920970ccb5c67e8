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

/** @returns a function that says whether a peer is one of the proxies */
export function makeProxyCheck(proxies: readonly string[]): (remoteAddress: string) => boolean {
  if (proxies.length === 0) return () => false
  const list = new BlockList()
  for (const [address = '', prefix] of proxies.flatMap((one) => networks[one] ?? one).map((one) => one.split('/'))) {
    const kind = family(address)
    if (kind) list.addSubnet(address, prefix === undefined ? (kind === 'ipv4' ? 32 : 128) : Number(prefix), kind)
  }
  return (remoteAddress) => {
    const kind = family(remoteAddress)
    return kind !== undefined && list.check(remoteAddress, kind)
  }
}
