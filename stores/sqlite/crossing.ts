/**
 * How orders cross between the threads. A large one goes as JSON text: to take a copy of 10,000 lines apart holds up the
 * thread that serves for 20 ms, a text of the same size for none.
 */

import { defer, type Known, textOf } from '../../domain/deferred.ts'
import type { Order, PurchaseOrder } from '../../domain/order.ts'
import type { Placed, Placing } from '../../domain/store.ts'
import { knownOf } from '../rows.ts'
import { orderSize } from '../sizes.ts'
import type { Outcome } from './failures.ts'
import type { Command, WriteVerb } from './writes.ts'

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

function replaceOrder({ verb, args }: Command, replace: (order: PurchaseOrder) => PurchaseOrder | Packed<PurchaseOrder>): Command {
  if (verb === 'placeOrder') {
    const [placing] = args as unknown as readonly [Placing]
    return { verb, args: [{ ...placing, order: replace(placing.order) as PurchaseOrder }] }
  }
  if (verb === 'changeOrder') {
    const [id, order, ...rest] = args as unknown as Command<'changeOrder'>['args']
    return { verb, args: [id, replace(order) as PurchaseOrder, ...rest] }
  }
  return { verb, args }
}

/** A command as it is sent to the writer. */
export function packCommand(command: Command): Command {
  return replaceOrder(command, (order) => pack(order, {}))
}

export function unpackCommand(command: Command): Command {
  return replaceOrder(command, (order) => (isPacked(order) ? (JSON.parse(order.json) as PurchaseOrder) : order))
}

/** An order of as many lines, or with texts that weigh as much, crosses as text. */
const manyLines = 100

function packOrder(order: Order): Order | Packed<Order> {
  return orderSize(order) < manyLines ? order : pack(order, knownOf(order), JSON.stringify(order))
}

function unpackOrder(order: Order | Packed<Order>): Order {
  return isPacked(order) ? defer(order.json, order.known) : order
}

function replaceOutcome(verb: WriteVerb, outcome: Outcome, replace: (order: Order) => Order | Packed<Order>): Outcome {
  if (!('value' in outcome)) return outcome
  if (verb === 'changeOrder' || verb === 'setOrderStatus') return { value: replace(outcome.value as Order) }
  if (verb !== 'placeOrder') return outcome
  const placed = outcome.value as Placed
  return { value: { ...placed, order: replace(placed.order) } }
}

/** What a command came to, as the writer sends it. */
export function packOutcome(verb: WriteVerb, outcome: Outcome): Outcome {
  return replaceOutcome(verb, outcome, packOrder)
}

export function unpackOutcome(verb: WriteVerb, outcome: Outcome): Outcome {
  return replaceOutcome(verb, outcome, unpackOrder)
}
