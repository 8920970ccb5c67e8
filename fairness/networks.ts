import { normalizeIP } from '@fastify/rate-limit'
import { LRUCache } from 'lru-cache'

/** The networks of this many addresses are remembered. */
const maxNetworks = 10_000

/** To parse an IPv6 address takes longer than all other steps of a request together. */
const networks = new LRUCache<string, string>({ max: maxNetworks, memoMethod: (address) => normalizeIP(address) })

/** Returns the address of a sender, or the /64 network of its IPv6 address, because one sender can use every address of a /64. */
export function networkOf(address: string): string {
  return networks.memo(address)
}
