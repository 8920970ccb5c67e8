/** The service and its command as processes of their own, compiled, and what they take of the machine (Linux's /proc). */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** Milliseconds between two looks. */
const interval = 20

/** Of _SC_CLK_TCK, a second; 100 on every Linux there is. */
const ticks = 100

export interface Watched {
  readonly child: ChildProcess
  /** The memory that it has resident now, in bytes. */
  memory(): number
  /** The most that it had, in bytes. */
  peak(): number
  /** Forgets the peak so far. */
  reset(): void
  /** Processor time so far, in seconds. */
  cpu(): number
}

export function startProcess(program: string, args: readonly string[], settings: Readonly<Record<string, string>>): Watched {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...settings }, stdio: ['ignore', 'pipe', 'inherit'] })
  let [now, peak, cpu] = [0, 0, 0]
  const look = () => {
    try {
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      if (kilobytes === undefined) return
      now = Number(kilobytes) * 1024
      peak = Math.max(peak, now)
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      cpu = (Number(fields[11]) + Number(fields[12])) / ticks
    } catch {
      // It is over.
    }
  }
  const timer = setInterval(look, interval)
  child.once('exit', () => clearInterval(timer))
  return {
    child,
    memory: () => {
      look()
      return now
    },
    peak: () => peak,
    reset: () => {
      look()
      peak = now
    },
    cpu: () => cpu
  }
}

/** @throws Error unless it ends with 0 */
export async function succeeds({ child }: Watched): Promise<void> {
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${status}`)
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`
