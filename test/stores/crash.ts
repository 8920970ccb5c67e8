/**
 * Kills a process that writes to a store, with SIGKILL, at a random moment, and looks at what is left. A killed process
 * loses nothing that it gave to the operating system; what a power cut would lose, only the fsync settings answer for.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { add, decimal, plain, zero } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import { heldBy } from '../../domain/placing.ts'
import type { Store } from '../../domain/store.ts'
import { type Acknowledged, crashProducts, keyed, startStock } from './crash-load.ts'
import { everyOrder, onHand, stocked } from './fixtures.ts'

/** A new, empty database of a round. */
export interface Ground {
  open(): Promise<Store>
  /** The program to kill, which opens the same database and runs `crash-load`'s `writeUntilKilled` on it, and its argument. */
  readonly program: URL
  readonly argument: string
}

/** How long a round writes, at most, in milliseconds after the first acknowledgement. */
const longest = 400

/** @param rounds how many processes to kill; each takes about the start-up of a process more than `longest` */
export function crashSuite(t: Test, rounds: number, fresh: (round: number) => Promise<Ground>): void {
  const limit = rounds * 200_000
  t.setTimeout(limit)
  t.test(`killed ${rounds} times under load, the store loses nothing that it acknowledged, and stock adds up`, async (t) => {
    t.setTimeout(limit)
    let acknowledged = 0
    for (let round = 0; round < rounds; round++) {
      const ground = await fresh(round)
      await stock(ground)
      const known = await writeAndKill(ground)
      acknowledged += known.size
      const store = await ground.open()
      const wrong = await check(store, known).finally(() => store.close())
      if (wrong.length > 0) t.fail(`round ${round}`, { wrong })
    }
    t.ok(acknowledged > rounds, `${acknowledged} orders were acknowledged in ${rounds} rounds`)
  })
}

async function stock({ open }: Ground): Promise<void> {
  const store = await open()
  for (const id of crashProducts) await store.createProduct(id, stocked(startStock, { unit: 'KGM' }))
  await store.close()
}

/** The last that was acknowledged of each order. */
async function writeAndKill({ program, argument }: Ground): Promise<Map<string, Acknowledged>> {
  const child = spawn(process.execPath, [...process.execArgv, program.pathname, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
  const known = new Map<string, Acknowledged>()
  const [exited, lines] = [once(child, 'exit'), createInterface({ input: child.stdout })]
  const ended = once(lines, 'close')
  lines.on('line', (line) => {
    if (known.size === 0) void killSoon(child)
    // The last line may have been cut short: its write was acknowledged to nobody.
    if (!line.endsWith('}')) return
    const acknowledged: Acknowledged = JSON.parse(line)
    known.set(acknowledged.order.id, acknowledged)
  })
  const [, signal] = await exited
  await ended
  if (signal !== 'SIGKILL') throw new Error(`the program ended by itself, with ${child.exitCode ?? signal}`)
  return known
}

async function killSoon(child: ChildProcess): Promise<void> {
  await sleep(Math.random() * longest)
  child.kill('SIGKILL')
}

/** What is wrong with a store after a crash, in words. */
async function check(store: Store, known: ReadonlyMap<string, Acknowledged>): Promise<string[]> {
  const wrong: string[] = []
  const orders = await everyOrder(store)
  const there = new Map(orders.map((order) => [order.id, order]))
  const keys = new Set(orders.flatMap(({ notes }) => notes))
  if (there.size !== orders.length || keys.size !== orders.length) wrong.push('an order is there twice')
  for (const { order } of known.values()) wrong.push(...lost(order, there.get(order.id)))
  for (const { key, order } of sample([...known.values()])) {
    const again = await store.placeOrder(
      keyed(
        key,
        order.items.map(({ productId }) => productId)
      )
    )
    if (!again.replayed || again.order.id !== order.id) wrong.push(`the key ${key} was ${again.outcome} anew`)
  }
  for (const id of crashProducts) {
    const held = orders.reduce((sum, order) => add(sum, heldBy(order).get(id) ?? zero), zero)
    const sum = plain(add(await onHand(store, id), held))
    if (sum !== decimal(startStock)) wrong.push(`of ${id} there were ${startStock}, and now ${sum} with what orders hold`)
  }
  return wrong
}

/** An order is only ever written by one after another: past what was acknowledged, one write at most was under way. */
function lost(order: Order, there: Order | undefined): string[] {
  if (!there) return [`${order.id} was acknowledged and is not there`]
  if (there.version === order.version + 1) return []
  const same = JSON.stringify(sorted(there)) === JSON.stringify(sorted(order))
  return same ? [] : [`${order.id} was acknowledged as ${JSON.stringify(order)} and is ${JSON.stringify(there)}`]
}

function sorted(order: Order): unknown {
  return Object.entries(order).sort(([a], [b]) => (a < b ? -1 : 1))
}

function sample<T>(all: readonly T[]): T[] {
  return all.filter((_, i) => i % Math.ceil(all.length / 20) === 0)
}
