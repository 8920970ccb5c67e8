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

/** Waits until a condition is true. @throws Error if that takes too long. @param what the condition in words */
export async function until(isSo: () => boolean | Promise<boolean>, what: string, milliseconds = 240_000): Promise<void> {
  const end = performance.now() + milliseconds
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`this did not become true in ${milliseconds} ms: ${what}`)
    await sleep(20)
  }
}
