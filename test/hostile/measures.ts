import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

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
