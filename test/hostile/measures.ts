import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The most resident memory that a process ever had, in MiB. */
export function memoryOf(pid: number | undefined): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

/** Sockets that a process has open. */
export function socketsOf(pid: number | undefined): number {
  const links = readdirSync(`/proc/${pid}/fd`).map((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.startsWith('socket:')).length
}

/**
 * Milliseconds for which the main thread of a process has been ready and had no processor
 * (https://docs.kernel.org/scheduler/sched-stats.html), or 0 where the kernel does not count them.
 */
export function starvationOf(pid: number | 'self' | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** Waits until a condition is true. @param what the condition in words, which are shown when it is not true after a minute */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const note = setTimeout(() => process.stderr.write(`A test still waits until ${what}.\n`), 60_000)
  try {
    while (!(await isSo())) await sleep(20)
  } finally {
    clearTimeout(note)
  }
}
