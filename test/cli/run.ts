import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { compile } from './compile.ts'

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

type Settings = Readonly<Record<string, string>>

/** The compiled command. */
export const cli = join(await compile(), 'cli.js')

/** Starts `tradepost` as a process of its own. */
export function start(args: readonly string[], settings: Settings): ChildProcessWithoutNullStreams {
  // The compiled command needs none of the tests' loaders, which take longer to start than it does. Only `env` can take
  // them away: tap gives them to each process that is spawned.
  const command = ['-u', 'NODE_OPTIONS', process.execPath, cli, ...args]
  return spawn('env', command, { env: { ...process.env, ...settings }, stdio: 'pipe' })
}

/** Runs `tradepost` to its end. */
export async function run(args: readonly string[], settings: Settings, input: string | Buffer = ''): Promise<Ran> {
  const child = start(args, settings)
  const closed = once(child, 'close')
  child.stdin.on('error', () => undefined).end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await closed
  return { status, stdout, stderr }
}
