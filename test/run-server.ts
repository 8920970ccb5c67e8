import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { compile } from './cli/compile.ts'
import { patience } from './patience.ts'

export interface RunningServer {
  readonly process: ChildProcess
  /** Where it listens, with the base path, without a slash at the end. */
  readonly base: string
  /** Where health and metrics are, when they have a port of their own. */
  readonly ops: string | undefined
  /** Sends the signal and waits for the end. @returns the exit code, or null when the signal ended it */
  end(signal: NodeJS.Signals): Promise<number | null>
}

const compiled = join(await compile(), 'server.js')

/**
 * Starts the compiled service as an operator does, in a process of its own.
 * @param file another build's `server.js`
 * @param descriptors how many files it may have open
 */
export function spawnServer(t: Test, settings: Readonly<Record<string, string>>, file = compiled, descriptors?: number): ChildProcess {
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors} && `
  // It needs none of the tests' loaders. Only the shell can take them away: tap gives them to each process that is spawned.
  const child = spawn('/bin/sh', ['-c', `unset NODE_OPTIONS; ${limit}exec "$0" "$@"`, process.execPath, file], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      RATE_LIMIT: 'off',
      OVERLOAD_DELAY: 'off',
      ...patience,
      SHUTDOWN_TIMEOUT: '600',
      ...settings
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

export async function runServer(
  t: Test,
  settings: Readonly<Record<string, string>>,
  file?: string,
  descriptors?: number
): Promise<RunningServer> {
  const child = spawnServer(t, settings, file, descriptors)
  const ended = once(child, 'exit') as Promise<[number | null]>
  const problems: Buffer[] = []
  child.stderr?.on('data', (chunk: Buffer) => problems.push(chunk))
  const { address, ops } = await new Promise<{ address: string; ops?: string }>((resolve, reject) => {
    if (child.stdout) {
      const lines = createInterface(child.stdout)
      const read = (line: string) => {
        const { address, ops } = JSON.parse(line) as { address?: string; ops?: string }
        if (!address) return
        // A later line may be cut short, when the process is killed.
        lines.off('line', read)
        resolve({ address, ...(ops === undefined ? {} : { ops }) })
      }
      lines.on('line', read)
    }
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${Buffer.concat(problems).toString()}`)))
  })
  return {
    process: child,
    base: address,
    ops,
    async end(signal) {
      child.kill(signal)
      const [code] = await ended
      return code
    }
  }
}
