import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const loader = new URL('typescript/register.js', import.meta.url).href

/** Runs a program of the tests in a process that may open 256 files. @returns what it prints, which is JSON */
export async function runWithFewDescriptors(program: URL): Promise<unknown> {
  const command = 'ulimit -n 256 && exec "$0" "$@"'
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, `--import=${loader}`, fileURLToPath(program)])
  return JSON.parse(stdout)
}

/** Does work while this process has no file descriptor left. */
export async function withoutDescriptors<T>(work: () => Promise<T>): Promise<T> {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    // There are no more.
  }
  try {
    return await work()
  } finally {
    for (const descriptor of taken) closeSync(descriptor)
  }
}
