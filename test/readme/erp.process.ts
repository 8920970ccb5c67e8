/** Kills the program of docs/erp.md again and again while orders are placed, and compares what it has at the end with the shop. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
/** If the program has not read all orders for the first time after so many kills, it may do so. All later kills hit it in the feed of events. */
const mostInFirstReading = 20
/** The program is killed when the shop has answered so many of its requests in the feed, at most: it reads and confirms a few orders. */
const mostAnswered = 16

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

/** Calls back for each answer to the program, with the URL. They are in the log of the shop; the program does not place orders. */
function onAnswer({ process: { stdout } }: RunningServer, answered: (url: string) => void): void {
  if (stdout === null) throw new Error('the shop has no log')
  createInterface(stdout).on('line', (line) => {
    const { msg, req } = JSON.parse(line) as { msg: string; req?: { method: string; url: string } }
    if (msg === 'request completed' && req && `${req.method} ${req.url}` !== 'POST /order') answered(req.url)
  })
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
    const orders = join(folder, 'orders')
    const cursor = join(orders, 'next')
    mkdirSync(orders, { recursive: true })
    const file = join(folder, 'erp.mjs')
    writeFileSync(file, program())
    const start = (...args: readonly string[]): ChildProcess =>
      // Without the tests' loaders, which tap gives to each process that is spawned.
      spawn('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', process.execPath, file, ...args], {
        env: { PATH: process.env['PATH'], SHOP: base, KEY: key, FOLDER: orders },
        stdio: ['ignore', 'ignore', 'inherit']
      })

    const placed: string[] = []
    const place = async () => {
      const answer = await fetch(`${base}/order`, { method: 'POST', headers: xml, body: orderXml({ 'ABC-1': 1 }) })
      if (answer.status !== 201) throw new Error(`an order was answered with ${answer.status}: ${await answer.text()}`)
      placed.push(String(answer.headers.get('location')))
      await answer.arrayBuffer()
    }
    let answered = 0
    let isSelling = true
    const placing: Promise<void>[] = [place(), place(), place()]
    onAnswer(shop, (url) => {
      answered += 1
      // Each page that the program has read is followed by an order that is not on it. So the feed is never empty, and its pages are
      // so short that a program that is killed soon has often read one to its end.
      if (isSelling && /^\/(?:events|orders)\?/.test(url)) placing.push(place())
    })

    async function runUntil(isEnough: () => boolean): Promise<void> {
      const running = start()
      const ended = once(running, 'exit')
      while (!isEnough() && running.exitCode === null) await sleep(1)
      // At any moment of what it does with the last answer.
      await sleep(Math.random() * 10)
      running.kill('SIGKILL')
      const [status] = await ended
      // The program runs until it is killed, so an exit status means that it has failed.
      if (status !== null) throw new Error(`the program ended with ${status}`)
    }

    await Promise.all(placing)
    for (let i = 0; i < kills; i++) {
      if (i === mostInFirstReading) await runUntil(() => existsSync(cursor))
      // The first reading confirms each order with two requests.
      const most = existsSync(cursor) ? mostAnswered : 2 + 2 * placed.length
      const enough = answered + 1 + Math.floor(Math.random() * most)
      await runUntil(() => answered >= enough)
    }
    isSelling = false
    await Promise.all(placing)
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
