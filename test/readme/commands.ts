/**
 * Runs every `sh` block of the README and of the pages in docs/ against a real server, and compares what each prints with the block
 * that follows it. Each page has a server on a new database, because a reader may begin with any of them. UPDATE=1 writes what was
 * printed into the pages instead. The README's blocks run in zsh, too, because they are the first that a reader pastes.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { freePort } from '../free-port.ts'
import { patience } from '../patience.ts'
import { type Block, blocks, pages, read, root } from './pages.ts'

const update = process.env['UPDATE'] === '1'
/** The addresses and the folder in the pages. A run has its own, so that two runs do not meet. */
const documented = { shop: 'http://localhost:3000', receiver: '4010', folder: '/tmp/' } as const

/** The command in the pages, and what runs instead, because npx takes eight times as long. test/unbuilt.process.ts runs npx. */
const command = { documented: 'npx tradepost', own: 'node tradepost.js' } as const

/** Replaces values that differ from run to run. */
function normalise(output: string): string {
  return output
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, 'TIME')
    .replace(/(<cbc:Issue(?:Date|Time)>)[^<]*/g, '$1TIME')
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'TIME')
    .replace(/"[\w.]+-[0-9a-f]{8}-(xml|html|json|text)"/g, '"TAG-$1"')
    .replace(/tp_[\w-]{20,}/g, 'KEY')
    .replace(/k_[0-9a-z]+/g, 'KEYID')
    .replace(/r=\d+;t=\d+/g, 'r=R;t=T')
    .trim()
}

/** The shells with their options. Without `-f`, zsh reads the settings of the machine and the user. */
const shells = { bash: [], zsh: ['-f'] } as const
type Shell = keyof typeof shells

/** Runs a script. A program that it leaves running is ended with the test. */
async function run(t: Test, shell: Shell, script: string, env: NodeJS.ProcessEnv): Promise<{ output: string; code: number | null }> {
  // A terminal shows both outputs in the order in which they were written.
  // A reader's shell has none of the tests' loaders, which take longer to start than a command does.
  const args = [...shells[shell], '-e', '-o', 'pipefail', '-c', `unset NODE_OPTIONS; exec 2>&1; ${script}`]
  // Detached, it leads a group, which has all that it starts.
  const child = spawn(shell, args, { cwd: resolve('.'), env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const output = await text(child.stdout)
  const [code] = await ended
  if (signalGroup(child, 0)) t.teardown(() => signalGroup(child, 'SIGKILL'))
  return { output, code }
}

/** @returns whether a process of the group was there */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

function fresh(t: Test): { folder: string; env: NodeJS.ProcessEnv } {
  const folder = t.testdir()
  const path = `${resolve('node_modules/.bin')}:${process.env['PATH']}`
  return {
    folder,
    env: {
      ...process.env,
      npm_config_loglevel: 'error',
      WEBHOOK_ALLOW: 'localhost',
      DATABASE_URL: `sqlite:${join(folder, 'shop.db')}`,
      PATH: path
    }
  }
}

async function serve(t: Test, env: NodeJS.ProcessEnv): Promise<string> {
  const server = spawn('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" dist/server.js', process.execPath], {
    env: { ...env, ...patience, OVERLOAD_DELAY: 'off', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => server.kill('SIGKILL'))
  return new Promise<string>((found, failed) => {
    createInterface(server.stdout).on('line', (line) => {
      const { address } = JSON.parse(line) as { address?: string }
      if (address) found(address)
    })
    server.once('exit', (code) => failed(new Error(`the server ended with ${code}`)))
  })
}

interface Shop {
  readonly base: string
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

interface Edit {
  readonly block: Block
  readonly text: string
}

/** @returns what the blocks of a page print now, where it is to be updated */
async function runPage(t: Test, shell: Shell, markdown: string, { base, folder, env }: Shop): Promise<readonly Edit[]> {
  // One shell for all blocks of a page: a later one may use what an earlier one set, as a reader would.
  const state = join(folder, 'state.sh')
  writeFileSync(state, '')
  const found = blocks(markdown)
  const receiver = String(await freePort())
  const edits: Edit[] = []
  for (const [i, block] of found.entries()) {
    if (block.language !== 'sh') continue
    const title = block.text.split('\n')[0] ?? ''
    // The addresses of this run come last: the port of the shop may have the digits of the documented one of the receiver.
    const commands = block.text
      .replaceAll(command.documented, command.own)
      .replaceAll(documented.receiver, receiver)
      .replaceAll(documented.folder, `${folder}/`)
      .replaceAll(documented.shop, base)
    const script = `source ${state}; ${commands}\ntypeset -p | grep -E '^(declare --|typeset) [a-z_]+=' > ${state} || true`
    const { output, code } = await run(t, shell, script, env)
    // Without the carriage returns of header fields and CSV, which nobody sees.
    const shown = output
      .replaceAll(base, documented.shop)
      .replaceAll(`${folder}/`, documented.folder)
      .replaceAll(`@${new URL(base).hostname}`, '@localhost')
      .replaceAll('\r', '')
    t.equal(code, 0, title, { output: shown })
    const next = found[i + 1]
    if (!next || (next.language !== 'text' && next.language !== 'xml')) continue
    if (update) edits.push({ block: next, text: `${shown.trimEnd()}\n` })
    else t.equal(normalise(shown), normalise(next.text), `what it prints: ${title}`)
  }
  return edits
}

function edited(markdown: string, edits: readonly Edit[]): string {
  return edits.reduceRight(
    (text, { block, text: shown }) => text.slice(0, block.at) + shown + text.slice(block.at + block.text.length),
    markdown
  )
}

t.test('every command of the README and of docs/ works on a shop with a new database, and prints what its page says', async (t) => {
  for (const page of pages) {
    const markdown = read(page)
    if (!blocks(markdown).some(({ language }) => language === 'sh')) continue
    await t.test(page, async (t) => {
      const { folder, env } = fresh(t)
      const edits = await runPage(t, 'bash', markdown, { base: await serve(t, env), folder, env })
      if (update) writeFileSync(join(root, page), edited(markdown, edits))
    })
  }
})

t.test('every command of the README works in zsh, and prints the same there', async (t) => {
  if (spawnSync('zsh', ['--version']).error) {
    throw new Error('zsh is not there, and this test needs the real one. On Debian or Ubuntu: apt-get install zsh')
  }
  const { folder, env } = fresh(t)
  await runPage(t, 'zsh', read('README.md'), { base: await serve(t, env), folder, env })
})
