/**
 * How orders cross between the threads. A large one goes as JSON text: to take a copy of 10,000 lines apart holds up the
 * thread that serves for 20 ms, a text of the same size for none.
 */

import { defer, type Known, textOf } from '../domain/deferred.ts'
import type { Order, PurchaseOrder } from '../domain/order.ts'
import type { Placed, Store } from '../domain/store.ts'
import type { Outcome } from './outcomes.ts'
import { knownOf } from './rows.ts'
import { orderSize } from './sizes.ts'

/** A verb of the store that a thread performs, and what it is given. */
export interface Command<V extends keyof Store = keyof Store> {
  readonly verb: V
  readonly args: Parameters<Store[V]>
}

interface Packed<T> {
  readonly json: string
  readonly known: Known<T>
}

function pack<T extends object>(value: T, known: Known<T>, json = textOf(value)): T | Packed<T> {
  return json === undefined ? value : { json, known }
}

function isPacked<T extends object>(value: T | Packed<T>): value is Packed<T> {
  return 'json' in value
}

function replaceOrder<C extends Command>(command: C, replace: (order: PurchaseOrder) => PurchaseOrder | Packed<PurchaseOrder>): C {
  const { verb, args } = command
  if (verb === 'placeOrder') {
    const [placing] = args as Command<'placeOrder'>['args']
    return { ...command, args: [{ ...placing, order: replace(placing.order) }] }
  }
  if (verb === 'changeOrder') {
    const [id, order, ...rest] = args as Command<'changeOrder'>['args']
    return { ...command, args: [id, replace(order), ...rest] }
  }
  return command
}

/** A command as it is sent to the thread that writes. */
export function packCommand<C extends Command>(command: C): C {
  return replaceOrder(command, (order) => pack(order, {}))
}

export function unpackCommand<C extends Command>(command: C): C {
  return replaceOrder(command, (order) => (isPacked(order) ? (JSON.parse(order.json) as PurchaseOrder) : order))
}

/** An order of as many lines, or with texts that weigh as much, crosses as text. */
const manyLines = 100

function packOrder(order: Order): Order | Packed<Order> {
  return orderSize(order) < manyLines ? order : pack(order, knownOf(order), textOf(order) ?? JSON.stringify(order))
}

function unpackOrder(order: Order | Packed<Order>): Order {
  return isPacked(order) ? defer(order.json, order.known) : order
}

function replaceOutcomes(
  commands: readonly Command[],
  outcomes: readonly Outcome[],
  replace: (order: Order) => Order | Packed<Order>
): readonly Outcome[] {
  return outcomes.map((outcome, i) => {
    const verb = commands[i]?.verb
    if (!('value' in outcome)) return outcome
    if (verb === 'changeOrder' || verb === 'setOrderStatus') return { value: replace(outcome.value as Order) }
    if (verb !== 'placeOrder') return outcome
    const placed = outcome.value as Placed
    return { value: { ...placed, order: replace(placed.order) } }
  })
}

/** What commands came to, as the thread sends it. */
export function packOutcomes(commands: readonly Command[], outcomes: readonly Outcome[]): readonly Outcome[] {
  return replaceOutcomes(commands, outcomes, packOrder)
}

export function unpackOutcomes(commands: readonly Command[], outcomes: readonly Outcome[]): readonly Outcome[] {
  return replaceOutcomes(commands, outcomes, unpackOrder)
}
