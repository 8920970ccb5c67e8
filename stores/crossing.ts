/**
 * Threads exchange orders as JSON text. A large order stays text in the serving thread, because parsing 10,000 lines would
 * block it for 20 ms. For a small order, too, text is faster than the structured clone of a message port.
 */

import { defer, isLarge, jsonOf, type Known } from '../domain/deferred.ts'
import type { Order, PurchaseOrder } from '../domain/order.ts'
import type { Placed, Store, StoreVerb } from '../domain/store.ts'
import type { Settled } from './batcher.ts'
import { type CommandOutcome, fromFailure } from './outcomes.ts'
import { knownOf } from './rows.ts'

/** A verb of the store that a thread performs, with its arguments. */
export interface Command<V extends StoreVerb = StoreVerb> {
  readonly verb: V
  readonly args: Parameters<Store[V]>
}

/** An order as JSON. A large order also has the properties that can be read without parsing it. */
type PackedOrder = string | { readonly json: string; readonly known: Known<Order> }

function replaceOrder<C extends Command>(command: C, replace: (order: PurchaseOrder) => unknown): C {
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

/** Replaces the order in a command by JSON, to send it to the writing thread. */
export function packCommand<C extends Command>(command: C): C {
  return replaceOrder(command, jsonOf)
}

export function unpackCommand<C extends Command>(command: C): C {
  return replaceOrder(command, (json) => JSON.parse(json as unknown as string))
}

function packOrder(order: Order): PackedOrder {
  const json = jsonOf(order)
  return isLarge(json) ? { json, known: knownOf(order) } : json
}

function unpackOrder(order: PackedOrder): Order {
  return typeof order === 'string' ? JSON.parse(order) : defer(order.json, order.known)
}

/** The outcome of a verb that returns an order, with that order replaced. */
function replaceInOutcome(verb: StoreVerb | undefined, outcome: CommandOutcome, replace: (order: unknown) => unknown): CommandOutcome {
  if (!('value' in outcome)) return outcome
  if (verb === 'changeOrder' || verb === 'setOrderStatus') return { value: replace(outcome.value) }
  if (verb !== 'placeOrder') return outcome
  const placed = outcome.value as Placed
  return { value: { ...placed, order: replace(placed.order) } }
}

/** Replaces the orders in the outcomes of commands, to send them to the serving thread. */
export function packOutcomes(commands: readonly Command[], outcomes: readonly CommandOutcome[]): readonly CommandOutcome[] {
  return outcomes.map((outcome, i) => replaceInOutcome(commands[i]?.verb, outcome, (order) => packOrder(order as Order)))
}

/** The results of commands that a thread has performed. */
export function unpackOutcomes<Result>(commands: readonly Command[], outcomes: readonly CommandOutcome[]): readonly Settled<Result>[] {
  return outcomes.map((packed, i) => {
    const verb = commands[i]?.verb
    const outcome = replaceInOutcome(verb, packed, (order) => unpackOrder(order as PackedOrder))
    return 'value' in outcome ? { value: outcome.value as Result } : { error: fromFailure(outcome.failure, verb ?? 'a command') }
  })
}
