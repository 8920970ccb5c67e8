import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { readRange } from '../fairness/address-range.ts'

function family(address: string): 'ipv4' | 'ipv6' | undefined {
  return isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined
}

/**
 * @param proxies addresses or CIDR ranges
 * @returns a function that says whether a peer is one of the proxies
 */
export function makeProxyCheck(proxies: readonly string[]): (remoteAddress: string) => boolean {
  if (proxies.length === 0) return () => false
  const list = new BlockList()
  for (const proxy of proxies) {
    const range = readRange(proxy)
    if (range) list.addSubnet(range.address, range.bits, range.family)
  }
  return (remoteAddress) => {
    const kind = family(remoteAddress)
    return kind !== undefined && list.check(remoteAddress, kind)
  }
}
