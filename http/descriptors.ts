import { readFileSync } from 'node:fs'

/** File descriptors reserved for other uses than client connections: the database, worker threads, child processes, the operator. */
const reservedDescriptors = 96

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

/** The wanted number of connections, or fewer so that they never use the last file descriptors. */
export function connectionLimit(wanted: number, descriptors: number | undefined): number {
  return descriptors === undefined ? wanted : Math.min(wanted, Math.max(1, descriptors - reservedDescriptors))
}
