/** Runs the compiled service and its commands as processes, and measures their memory and processor time (Linux's /proc). */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** Milliseconds between two measurements. */
const interval = 20

/** Clock ticks per second (_SC_CLK_TCK), which is 100 on Linux. */
const ticks = 100

export interface Watched {
  readonly child: ChildProcess
  /** The resident memory of the process and its children, in bytes. */
  memory(): number
  /** The peak of the resident memory, in bytes. */
  peak(): number
  /** Restarts the measurement of the peak. */
  reset(): void
  /** Processor time so far, in seconds. */
  cpu(): number
}

export function startProcess(program: string, args: readonly string[], settings: Readonly<Record<string, string>>): Watched {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...settings }, stdio: ['ignore', 'pipe', 'inherit'] })
  let [now, peak, cpu] = [0, 0, 0]
  const sample = () => {
    try {
      now = [child.pid, ...childrenOf(child.pid)].reduce((sum: number, pid) => sum + resident(pid), 0)
      peak = Math.max(peak, now)
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')
      cpu = (Number(fields[11]) + Number(fields[12])) / ticks
    } catch {
      // The process has ended.
    }
  }
  const timer = setInterval(sample, interval)
  child.once('exit', () => clearInterval(timer))
  return {
    child,
    memory: () => {
      sample()
      return now
    },
    peak: () => peak,
    reset: () => {
      sample()
      peak = now
    },
    cpu: () => cpu
  }
}

/** The resident memory of a process, in bytes. */
export function resident(pid: number | string | undefined): number {
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}

/** The children of a process. Its main thread starts all of them. */
export function childrenOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '')
}

/** Waits until a service listens. @returns the address from its log */
export async function listening({ child }: Watched): Promise<string> {
  let log = ''
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    log += String(chunk)
    const address = /"address":"([^"]+)"/.exec(log)?.[1]
    if (address === undefined) continue
    child.stdout?.resume()
    return address
  }
  throw new Error('the service did not start')
}

/** Waits for the end of a process. @throws Error if its status is not 0 */
export async function succeeds({ child }: Watched): Promise<void> {
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${status}`)
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`
