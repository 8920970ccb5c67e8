import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/**
 * Niceness of the threads and processes beside the serving thread. So on a busy machine, or one with a single core, they run
 * while the serving thread waits. Everybody waits for that thread, and it never works for long. With 64 clients that order,
 * and all threads on one core, a product took 3 ms (median) instead of several hundred. See bench/README.md.
 */
export const niceness = {
  /** A thread that serves a database, or the process for small documents. */
  helper: 8,
  /** The process for large documents. */
  largeDocuments: 11
} as const

/** Adds to the niceness of a process. It does nothing when the process has ended. */
export function lowerPriority(pid: number, by: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + by, 19))
  } catch {
    // The process has ended already, or the system does not allow it: then it runs with the normal priority.
  }
}

/** Adds to the niceness of the calling thread. Only Linux gives each thread an id and a niceness (proc(5), thread-self). */
export function lowerThreadPriority(by: number): void {
  let thread: number
  try {
    thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return
  }
  lowerPriority(thread, by)
}
