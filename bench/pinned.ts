/** Servers as processes on given cores, where `taskset` is installed, with their processor time and memory (Linux's /proc). */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { compiledEnvironment, family, memoryOf, processorTime, residentBytes } from './process.ts'

export interface ServedProcess {
  /** By default this machine. */
  readonly host?: string
  readonly port: number
  /** Milliseconds from the start of the process to its first answer. */
  readonly startedAfter: number
  /** Microseconds of processor time so far, of all threads and child processes. It is NaN for a server that is not a process of the bench. */
  cpu(): number
  /** Resident bytes: of the process, and of it with its children. */
  memory(): { readonly main: number; readonly all: number }
  /** Moves all threads of the process and its children to other cores. */
  moveTo(cores: string): void
  end(): Promise<void>
}

/** Cores as `taskset` takes them. A server has the first core or the first two. The clients have another, if there is one. */
export const cores = { one: '0', two: '0,1', clients: cpus().length > 2 ? '2' : '1' } as const

/** Whether the clients share a core with a server that has two. */
export const isShared = cpus().length < 3

const hasTaskset = ((): boolean => {
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' })
    return cpus().length > 1
  } catch {
    return false
  }
})()

/** How the cores are shared, in a sentence for the report. */
export const pinning = hasTaskset
  ? 'The server and the clients are pinned to cores with taskset.'
  : 'Nothing is pinned to a core, because taskset or a second core is missing: server and clients share all cores.'

/** Keeps all threads of a process on these cores. Does nothing where there is no `taskset`: both contestants then share the cores with the clients. */
export function pin(pid: number, to: string): void {
  if (hasTaskset) execFileSync('taskset', ['-acp', to, String(pid)], { stdio: 'ignore' })
}

/** A command that runs on these cores from its first instruction. */
function pinned(to: string, args: readonly string[]): readonly [command: string, args: readonly string[]] {
  // taskset replaces itself by the command, so the process keeps its id.
  return hasTaskset ? ['taskset', ['-c', to, process.execPath, ...args]] : [process.execPath, args]
}

/** How long Node takes to run a program that does nothing, in milliseconds. */
export async function emptyProgram(to: string): Promise<number> {
  const startedAt = performance.now()
  const [command, args] = pinned(to, ['-e', '0'])
  await once(spawn(command, args, { env: compiledEnvironment({}), stdio: 'ignore' }), 'exit')
  return performance.now() - startedAt
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Sends a request. @returns the status of its answer; undefined while nobody listens */
async function statusOf(port: number, path: string): Promise<number | undefined> {
  const socket = connect({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n`)
    const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [Buffer | boolean]
    return typeof answer === 'boolean' ? undefined : Number(answer.toString('latin1', 9, 12))
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

/**
 * Starts a server whose log goes to /dev/null, and waits for its first answer: 200 to a GET of `path`, or any without a path.
 * @param args of Node: options, the program and its arguments
 */
export async function serveProcess(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  { on = cores.one, path }: { readonly on?: string; readonly path?: string } = {}
): Promise<ServedProcess> {
  const port = await freePort()
  const env = { ...compiledEnvironment(settings), HOST: '127.0.0.1', PORT: String(port) }
  const startedAt = performance.now()
  const child = spawn(...(pinned(on, args) as [string, string[]]), { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  const { pid = 0 } = child
  const isAnswered = (status: number | undefined) => (path === undefined ? status !== undefined : status === 200)
  while (!isAnswered(await statusOf(port, path ?? '/'))) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
    await sleep(1)
  }
  return {
    port,
    startedAfter: performance.now() - startedAt,
    cpu: () => 1e6 * processorTime(pid),
    memory: () => ({ main: memoryOf(pid), all: residentBytes(pid) }),
    moveTo: (to) => {
      for (const one of family(pid)) pin(one, to)
    },
    async end() {
      child.kill('SIGKILL')
      await exited
    }
  }
}
