/** Runs the compiled service and its commands as processes, and measures their memory and processor time (Linux's /proc). */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds between two measurements. */
const interval = 20

export interface Watched {
  readonly child: ChildProcess
  /** The resident memory of the process and its children, in bytes. */
  memory(): number
  /** The peak of the resident memory, in bytes. */
  peak(): number
  /** Restarts the measurement of the peak. */
  reset(): void
  /** Processor time of the process and its children so far, in seconds. */
  cpu(): number
}

/** The environment of a compiled program. The TypeScript loader of this process would slow its start down. */
export const compiledEnvironment = (settings: Readonly<Record<string, string>>) => ({ ...process.env, NODE_OPTIONS: '', ...settings })

export function startProcess(program: string, args: readonly string[], settings: Readonly<Record<string, string>>): Watched {
  const child = spawn(process.execPath, [program, ...args], { env: compiledEnvironment(settings), stdio: ['ignore', 'pipe', 'inherit'] })
  const { pid = 0 } = child
  let [now, peak, cpu] = [0, 0, 0]
  const sample = () => {
    try {
      now = residentBytes(pid)
      peak = Math.max(peak, now)
      cpu = processorTime(pid)
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
    cpu: () => {
      sample()
      return cpu
    }
  }
}

/** A process and its children. Its main thread starts all of them. */
export function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  return [pid, ...children.filter((child) => child !== '').map(Number)]
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

/** The resident memory of one process, in bytes. */
export function memoryOf(pid: number): number {
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}

/** The resident memory of a process and its children, in bytes. */
export function residentBytes(pid: number): number {
  return sum(family(pid).map(memoryOf))
}

/** The processor time of all threads of a process and of its children, in seconds. */
export function processorTime(pid: number): number {
  const tasks = family(pid).flatMap((one) => readdirSync(`/proc/${one}/task`).map((task) => `/proc/${one}/task/${task}/schedstat`))
  return sum(tasks.map((path) => Number(readFileSync(path, 'utf8').split(' ')[0]))) / 1e9
}

/** Waits until a service listens, and reads its log until it ends. @returns the address from its log */
export function listening({ child }: Watched): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = ''
    const read = (chunk: Buffer) => {
      log += String(chunk)
      const address = /"address":"([^"]+)"/.exec(log)?.[1]
      if (address === undefined) return
      child.stdout?.off('data', read).resume()
      resolve(address)
    }
    child.stdout?.on('data', read)
    child.once('exit', () => reject(new Error('the service did not start')))
  })
}

/** Waits for the end of a process. @throws Error if its status is not 0 */
export async function succeeds({ child }: Watched): Promise<void> {
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${status}`)
}

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`
