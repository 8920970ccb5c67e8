import { readFileSync } from 'node:fs'

/** File descriptors reserved for other uses than connections of clients and to receivers: the database, worker threads, child processes, the operator. */
const reservedDescriptors = 96

/** The most connections to the receivers of webhooks, and the part of the file descriptors that they take where a process may open few. */
const outgoing = { most: 512, part: 1 / 4 } as const

/** The maximum of open file descriptors of this process. Undefined where the system does not have /proc. */
export function descriptorLimit(): number | undefined {
  try {
    // Node raises its soft limit to the hard limit at start. This file shows the current value.
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}

/** The wanted number of clients' connections, or fewer so that they never use the last file descriptors. */
export function connectionLimit(wanted: number, descriptors: number | undefined): number {
  if (descriptors === undefined) return wanted
  return Math.min(wanted, Math.max(1, descriptors - reservedDescriptors - outgoingLimit(descriptors)))
}

/** The uses of the connections to the receivers of webhooks. Together they are at most `outgoingLimit`. */
export interface OutgoingShares {
  /** Deliveries at once. */
  readonly deliveries: number
  /** Connections that stay open for a next delivery. */
  readonly idle: number
  /** Events that are sent again at once. */
  readonly again: number
  /** URLs that are checked at once. */
  readonly checks: number
}

export function outgoingShares(descriptors: number | undefined): OutgoingShares {
  const eighth = Math.floor(outgoingLimit(descriptors) / 8)
  return { deliveries: 4 * eighth, idle: 2 * eighth, again: eighth, checks: eighth }
}

/** The most connections to the receivers of webhooks. */
export function outgoingLimit(descriptors: number | undefined): number {
  if (descriptors === undefined) return outgoing.most
  return Math.min(outgoing.most, Math.max(8, Math.floor((descriptors - reservedDescriptors) * outgoing.part)))
}
