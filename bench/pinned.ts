/** Servers as processes on one core, where `taskset` is installed, with their processor time and memory (Linux's /proc). */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { compiledEnvironment, family, processorTime, residentBytes } from './process.ts'

export interface Served {
  readonly port: number
  /** Milliseconds from the start of the process to its first answer. */
  readonly startedAfter: number
  /** Microseconds of processor time so far, of all threads and child processes. */
  cpu(): number
  /** Resident bytes of the process and its children. */
  memory(): number
  end(): Promise<void>
}

/** Keeps all threads of a process on one core. Does nothing where there is no `taskset`. */
export function pin(pid: number, core: number): void {
  try {
    execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' })
  } catch {
    // The ratios still hold: both contestants share the cores with the clients.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Starts a server whose log goes to /dev/null, and waits for its first answer.
 * @param args of Node: options, the program and its arguments
 */
export async function serveProcess(args: readonly string[], settings: Readonly<Record<string, string>>): Promise<Served> {
  const port = await freePort()
  const startedAt = performance.now()
  const env = { ...compiledEnvironment(settings), HOST: '127.0.0.1', PORT: String(port) }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  const { pid = 0 } = child
  let startedAfter: number | undefined
  while (startedAfter === undefined) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
    await fetch(`http://127.0.0.1:${port}/`).then(
      () => {
        startedAfter = performance.now() - startedAt
      },
      () => sleep(2)
    )
  }
  for (const one of family(pid)) pin(one, 0)
  return {
    port,
    startedAfter,
    cpu: () => 1e6 * processorTime(pid),
    memory: () => residentBytes(pid),
    async end() {
      child.kill('SIGKILL')
      await exited
    }
  }
}
