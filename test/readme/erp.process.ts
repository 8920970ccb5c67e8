/** Kills the program of docs/erp.md again and again while orders are placed, and compares what it has at the end with the shop. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { hashKey } from '../../http/credentials.ts'
import { openStore } from '../../stores/open.ts'
import { orderXml, xml } from '../build.ts'
import { type RunningServer, runServer } from '../run-server.ts'
import { read } from './pages.ts'

const kills = 100
/** A program is killed when the shop has answered so many of its requests, at most: it has read a few orders and confirmed some. */
const mostAnswered = 12

/** The program, as the page has it. */
function program(): string {
  const found = /^cat > \/tmp\/erp\.mjs <<'JS'\n([\s\S]*?)^JS$/m.exec(read('docs/erp.md'))?.[1]
  if (found === undefined) throw new Error('docs/erp.md has no program')
  return found
}

interface Saved {
  readonly id: string
  readonly version: string
  readonly status: string
}

async function shopWithKey(t: Test, folder: string, settings: Readonly<Record<string, string>>) {
  const database = `sqlite:${join(folder, 'shop.db')}`
  const key = `tp_${'k'.repeat(32)}`
  const store = await openStore(database, 'EUR')
  await store.createKey({ customer: 'ERP', scopes: ['fulfilment'], hash: hashKey(key) })
  await store.close()
  return { ...(await runServer(t, { DATABASE_URL: database, ...settings })), key }
}

/** Counts the answers to the program in the log of the shop. It alone sends anything but new orders. */
function countAnswers({ process: { stdout } }: RunningServer): () => number {
  let count = 0
  if (stdout) {
    createInterface(stdout).on('line', (line) => {
      const { msg, req } = JSON.parse(line) as { msg: string; req?: { method: string; url: string } }
      if (msg === 'request completed' && `${req?.method} ${req?.url}` !== 'POST /order') count += 1
    })
  }
  return () => count
}

/** The orders of the shop, whole. */
async function ordersOf(base: string, key: string): Promise<Saved[]> {
  const all: Saved[] = []
  for (let path = '/orders?with=lines&order=oldest&limit=1000'; path; ) {
    const answer = await fetch(base + path, { headers: { authorization: `Bearer ${key}`, accept: 'application/json' } })
    const page = (await answer.json()) as { order: Saved[]; link: { rel: string; href: string }[] }
    all.push(...page.order)
    path = page.link.find(({ rel }) => rel === 'next')?.href ?? ''
  }
  return all
}

t.test(
  `the program of docs/erp.md, killed ${kills} times, has exactly the orders that the shop has, and confirmed each once`,
  async (t) => {
    const folder = t.testdir()
    const shop = await shopWithKey(t, folder, { ACCEPTANCE: 'manual' })
    const { base, key } = shop
    const answered = countAnswers(shop)
    const orders = join(folder, 'orders')
    mkdirSync(orders, { recursive: true })
    const file = join(folder, 'erp.mjs')
    writeFileSync(file, program())
    const start = (...args: readonly string[]): ChildProcess =>
      // Without the tests' loaders, which tap gives to each process that is spawned.
      spawn('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', process.execPath, file, ...args], {
        env: { PATH: process.env['PATH'], SHOP: base, KEY: key, FOLDER: orders },
        stdio: ['ignore', 'ignore', 'inherit']
      })

    const posting = new AbortController()
    const placed: string[] = []
    const post = async () => {
      while (!posting.signal.aborted) {
        const answer = await fetch(`${base}/order`, { method: 'POST', headers: xml, body: orderXml({ 'ABC-1': 1 }) })
        if (answer.status === 201) placed.push(String(answer.headers.get('location')))
        await answer.arrayBuffer()
        await sleep(20)
      }
    }
    const posts = [post(), post()]
    for (let i = 0; i < kills; i++) {
      const enough = answered() + 1 + Math.floor(Math.random() * mostAnswered)
      const running = start()
      const ended = once(running, 'exit')
      while (answered() < enough && running.exitCode === null) await sleep(1)
      // At any moment of what it does with the last answer.
      await sleep(Math.random() * 10)
      running.kill('SIGKILL')
      const [status] = await ended
      // The program runs until it is killed, so an exit status means that it has failed.
      if (status !== null) throw new Error(`the program ended with ${status}`)
    }
    while (placed.length < 50) await sleep(20)
    posting.abort()
    await Promise.all(posts)
    const [code] = await once(start('--once'), 'exit')
    t.equal(code, 0)

    const saved = readdirSync(orders)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(orders, name), 'utf8')) as Saved)
    const inShop = await ordersOf(base, key)
    const brief = (all: readonly Saved[]) => new Map(all.map(({ id, version, status }) => [id, `${version} ${status}`]))
    t.same([...brief(saved)].sort(), [...brief(inShop)].sort())
    t.same(new Set(inShop.map(({ id }) => `/order/${id}`)), new Set(placed))
    t.same(new Set(inShop.map(({ version, status }) => `${version} ${status}`)), new Set(['2 accepted']), 'confirmed once each')
  }
)
