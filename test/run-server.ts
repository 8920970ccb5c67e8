import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

export interface RunningServer {
  readonly process: ChildProcess
  /** Where it listens, with the base path, without a slash at the end. */
  readonly base: string
  /** Where health and metrics are, when they have a port of their own. */
  readonly ops: string | undefined
  /** Sends the signal and waits for the end. @returns the exit code, or null when the signal ended it */
  end(signal: NodeJS.Signals): Promise<number | null>
}

const source = fileURLToPath(new URL('../server.ts', import.meta.url))

/** Starts the service as an operator does, in a process of its own, with the loader that runs this test; or a built one. */
export function spawnServer(t: Test, settings: Readonly<Record<string, string>>, file = source): ChildProcess {
  const child = spawn(process.execPath, [...process.execArgv, file], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', RATE_LIMIT: 'off', OVERLOAD_DELAY: 'off', ...settings },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

export async function runServer(t: Test, settings: Readonly<Record<string, string>>, file?: string): Promise<RunningServer> {
  const child = spawnServer(t, settings, file)
  const ended = once(child, 'exit') as Promise<[number | null]>
  const problems: Buffer[] = []
  child.stderr?.on('data', (chunk: Buffer) => problems.push(chunk))
  const { address, ops } = await new Promise<{ address: string; ops?: string }>((resolve, reject) => {
    if (child.stdout) {
      createInterface(child.stdout).on('line', (line) => {
        const { address, ops } = JSON.parse(line) as { address?: string; ops?: string }
        if (address) resolve({ address, ...(ops === undefined ? {} : { ops }) })
      })
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
