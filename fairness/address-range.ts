import { isIP } from 'node:net'

/** A network. An address is a network of one. */
export interface AddressRange {
  readonly address: string
  /** The bits of the address that all addresses of the network have. */
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Reads an address, or a range in CIDR notation (RFC 4632 section 3.1). @returns undefined if the text is neither */
export function readRange(text: string): AddressRange | undefined {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return undefined
  const most = version === 6 ? 128 : 32
  const family = version === 6 ? 'ipv6' : 'ipv4'
  if (bits === undefined) return { address, bits: most, family }
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? { address, bits: Number(bits), family } : undefined
}
