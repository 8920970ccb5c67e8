import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { compile } from './cli/compile.ts'
import { freePort } from './free-port.ts'
import { runServer } from './run-server.ts'

/** Log lines of 2 KB each: together more than the pipe and the service keep. */
const requests = 6_000
const path = `/${'x'.repeat(1_900)}`

async function ask(base: string, count: number): Promise<Set<number>> {
  const statuses = new Set<number>()
  const one = async () => {
    const answer = await fetch(`${base}${path}`)
    await answer.arrayBuffer()
    statuses.add(answer.status)
  }
  for (let asked = 0; asked < count; asked += 20) await Promise.all(Array.from({ length: 20 }, one))
  return statuses
}

t.test('while nobody reads the log, the service answers; then it says how many lines were dropped', async (t) => {
  const { base, process: child, end } = await runServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` })
  child.stdout?.pause()
  t.same(await ask(base, requests), new Set([404]))
  const messages: string[] = []
  if (!child.stdout) throw new Error('the log is a pipe')
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => messages.push((JSON.parse(line) as { msg: string }).msg))
  while (!messages.some((message) => /^\d+ lines of the log were dropped/.test(message))) await sleep(20)
  const kept = messages.filter((message) => message === 'request completed').length
  const [dropped = ''] = messages.flatMap((message) => /^(\d+) lines/.exec(message)?.[1] ?? [])
  t.ok(kept > 500, `${kept} lines waited`)
  t.equal(kept + Number(dropped), requests)
  t.equal(await end('SIGTERM'), 0)
})

t.test('a service whose log nobody reads stops as any other', async (t) => {
  const { base, process: child, end } = await runServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`, SHUTDOWN_DELAY: '0' })
  child.stdout?.pause()
  t.same(await ask(base, 1_000), new Set([404]))
  t.equal(await end('SIGTERM'), 0)
})

t.test('a service whose log is on a full disk answers, and stops as any other', { skip: process.platform !== 'linux' }, async (t) => {
  const settings = { HOST: '127.0.0.1', SHUTDOWN_DELAY: '0', OVERLOAD_DELAY: 'off', DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` }
  const file = join(await compile(), 'server.js')
  // The log that would tell the port is lost, so the port is chosen here. If somebody takes it first, the service ends.
  const start = async () => {
    const port = String(await freePort())
    const env = { PATH: process.env['PATH'], ...settings, PORT: port }
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', openSync('/dev/full', 'w'), 'ignore'] })
    t.teardown(() => child.kill('SIGKILL'))
    return { base: `http://127.0.0.1:${port}`, child }
  }
  let service = await start()
  while (!(await fetch(`${service.base}/health/ready`).catch(() => undefined))?.ok) {
    await sleep(20)
    if (service.child.exitCode !== null) service = await start()
  }
  t.same(await ask(service.base, 100), new Set([404]))
  service.child.kill('SIGTERM')
  t.same(await once(service.child, 'exit'), [0, null])
})
