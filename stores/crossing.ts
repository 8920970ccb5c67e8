/**
 * Threads exchange orders as JSON text. A large order stays text in the serving thread, because parsing 10,000 lines would
 * block it for 20 ms. For a small order, too, text is faster than the structured clone of a message port.
 */

import { defer, isLarge, type JsonText, jsonOf, type Known, parseText, stringOf } from '../domain/deferred.ts'
import type { Order } from '../domain/order.ts'
import type { Shipment } from '../domain/shipping.ts'
import type { Placed, Shipped, StoreVerb } from '../domain/store.ts'
import type { Settled } from './batcher.ts'
import { type Command, replaceLarge } from './commands.ts'
import { type CommandOutcome, fromFailure, type Postponed } from './outcomes.ts'
import { knownOf } from './rows.ts'
import { shipmentKnown } from './shipment-rows.ts'

/** An order or a shipment as JSON. A large one also has the properties that can be read without parsing it. */
type Packed<T> = string | { readonly json: JsonText; readonly known: Known<T> }

/** Replaces what can be large in a command by JSON, to send it to the writing thread. */
export function packCommand<C extends Command>(command: C): C {
  return replaceLarge(command, jsonOf)
}

export function unpackCommand<C extends Command>(command: C): C {
  return replaceLarge(command, (json) => parseText(json as JsonText))
}

function pack<T extends object>(value: T, knownOf: (value: T) => Known<T>): Packed<T> {
  const json = jsonOf(value)
  return isLarge(json) ? { json, known: knownOf(value) } : stringOf(json)
}

function unpack<T extends object>(packed: Packed<T>): T {
  return typeof packed === 'string' ? JSON.parse(packed) : defer(packed.json, packed.known)
}

const packOrder = (order: unknown) => pack(order as Order, knownOf)
const packShipment = (shipment: unknown) => pack(shipment as Shipment, shipmentKnown)
const unpackAny = (packed: unknown) => unpack(packed as Packed<object>)

/** The outcome of a verb that returns an order or a shipment, with that replaced. */
function replaceInOutcome(
  verb: StoreVerb | undefined,
  outcome: CommandOutcome,
  replace: { readonly order: (order: unknown) => unknown; readonly shipment: (shipment: unknown) => unknown }
): CommandOutcome {
  if (!('value' in outcome)) return outcome
  if (verb === 'changeOrder' || verb === 'setOrderStatus') return { value: replace.order(outcome.value) }
  if (verb === 'placeOrder') {
    const placed = outcome.value as Placed
    return { value: { ...placed, order: replace.order(placed.order) } }
  }
  if (verb !== 'shipOrder') return outcome
  const shipped = outcome.value as Shipped
  return { value: { ...shipped, shipment: replace.shipment(shipped.shipment) } }
}

/** Replaces what can be large in the outcomes of commands, to send them to the serving thread. */
export function packOutcomes(commands: readonly Command[], outcomes: readonly CommandOutcome[]): readonly CommandOutcome[] {
  return outcomes.map((outcome, i) => replaceInOutcome(commands[i]?.verb, outcome, { order: packOrder, shipment: packShipment }))
}

/** The results of commands that a thread has performed. */
export function unpackOutcomes<Result>(
  commands: readonly Command[],
  outcomes: readonly CommandOutcome[]
): readonly (Settled<Result> | Postponed)[] {
  return outcomes.map((packed, i) => {
    const verb = commands[i]?.verb
    const outcome = replaceInOutcome(verb, packed, { order: unpackAny, shipment: unpackAny })
    if ('postponed' in outcome) return outcome
    return 'value' in outcome ? { value: outcome.value as Result } : { error: fromFailure(outcome.failure, verb ?? 'a command') }
  })
}
