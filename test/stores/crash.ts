/**
 * Kills a process that writes to a store, with SIGKILL, at a random moment, and looks at what is left. A killed process
 * loses nothing that it gave to the operating system; what a power cut would lose, only the fsync settings answer for.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { add, decimal, plain, zero } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import { heldBy } from '../../domain/placing.ts'
import type { Store } from '../../domain/store.ts'
import { eventFaults, isSame } from './crash-events.ts'
import { type Acknowledged, crashProducts, keyed, type OutputLine, type ReaderName, startStock, stockShop } from './crash-load.ts'
import { everyOrder, onHand } from './fixtures.ts'

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
  t.test(
    `killed ${rounds} times under load, the store loses nothing that it acknowledged, each change has its event, and stock adds up`,
    async (t) => {
      t.setTimeout(limit)
      let acknowledged = 0
      for (let round = 0; round < rounds; round++) {
        const ground = await fresh(round)
        await stock(ground)
        const output = await writeAndKill(ground)
        acknowledged += output.filter((line) => 'acknowledged' in line).length
        const store = await ground.open()
        const wrong = await check(store, output).finally(() => store.close())
        if (wrong.length > 0) t.fail(`round ${round}`, { wrong })
      }
      t.ok(acknowledged > rounds, `${acknowledged} writes were acknowledged in ${rounds} rounds`)
    }
  )
}

async function stock({ open }: Ground): Promise<void> {
  const store = await open()
  await stockShop(store).finally(() => store.close())
}

async function writeAndKill({ program, argument }: Ground): Promise<OutputLine[]> {
  const child = spawn(process.execPath, [...process.execArgv, program.pathname, argument], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [exited, ended] = [once(child, 'exit'), once(child.stdout, 'end')]
  let output = ''
  let isEnding = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!isEnding && text.includes('"acknowledged"')) {
      isEnding = true
      void killSoon(child)
    }
    output += text
  })
  const [, signal] = await exited
  await ended
  if (signal !== 'SIGKILL') throw new Error(`the program ended by itself, with ${child.exitCode ?? signal}`)
  // The last line may have been cut short: its write was acknowledged to nobody.
  const lines = output.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

async function killSoon(child: ChildProcess): Promise<void> {
  await sleep(Math.random() * longest)
  child.kill('SIGKILL')
}

/** The faults of a store after a crash, in words. @param output the lines of the load, in their order */
export async function check(store: Store, output: readonly OutputLine[]): Promise<string[]> {
  const wrong: string[] = []
  const acknowledged = output.flatMap((line) => ('acknowledged' in line ? line.acknowledged : []))
  const seenBy = (name: ReaderName) => output.flatMap((line) => ('reader' in line && line.reader === name ? line.seen : []))
  const orders = await everyOrder(store)
  const there = new Map(orders.map((order) => [order.id, order]))
  const keys = new Set(orders.flatMap(({ notes }) => notes))
  if (there.size !== orders.length || keys.size !== orders.length) wrong.push('an order is there twice')
  wrong.push(...(await eventFaults(store, there, acknowledged, { everything: seenBy('everything'), buyer: seenBy('buyer') })))
  const known = new Map(acknowledged.flatMap((write) => (write.key === undefined ? [] : [[write.key, write] as const])))
  for (const write of known.values()) wrong.push(...lost(write, there))
  for (const [key, { events }] of sample([...known])) {
    const again = await store.placeOrder(keyed(key, [crashProducts[0]]))
    if (!again.replayed || again.order.id !== events[0]?.subject) wrong.push(`the key ${key} was ${again.outcome} anew`)
  }
  for (const [id, start] of startStock) {
    const held = orders.reduce((sum, order) => add(sum, heldBy(order).get(id) ?? zero), zero)
    const sum = plain(add(await onHand(store, id), held))
    if (sum !== decimal(start)) wrong.push(`of ${id} there were ${start}, and now ${sum} with what orders hold`)
  }
  return wrong
}

/** An order is only ever written by one after another: past what was acknowledged, one write at most was under way. */
function lost({ events, order }: Acknowledged, orders: ReadonlyMap<string, Order>): string[] {
  const [{ subject, version } = { subject: '', version: 0 }] = events
  const there = orders.get(subject)
  if (!there) return [`${subject} was acknowledged and is not there`]
  if (there.version === version + 1) return []
  if (there.version === version && (!order || isSame(there, order))) return []
  return [`${subject} was acknowledged as ${JSON.stringify(order ?? version)} and is ${JSON.stringify(there)}`]
}

function sample<T>(all: readonly T[]): T[] {
  return all.filter((_, i) => i % Math.ceil(all.length / 20) === 0)
}
