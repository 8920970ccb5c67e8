/**
 * Threads exchange orders as JSON text. A large order stays text in the serving thread, because parsing 10,000 lines would
 * block it for 20 ms. For a small order, too, text is faster than the structured clone of a message port.
 */

import { defer, isLarge, type JsonText, jsonOf, type Known, parseText, stringOf } from '../domain/deferred.ts'
import type { Order } from '../domain/order.ts'
import type { Shipment } from '../domain/shipping.ts'
import type { Placed, Shipped, StoreVerb } from '../domain/store.ts'
import type { Settled } from './batcher.ts'
import { type Command, replaceLarge, withoutListener } from './commands.ts'
import { type CommandOutcome, fromFailure, type Postponed } from './outcomes.ts'
import { knownOf } from './rows.ts'
import { shipmentKnown } from './shipment-rows.ts'
import type { LaneName } from './sizes.ts'

/** An order or a shipment as JSON. A large one also has the properties that can be read without parsing it. */
type Packed<T> = string | { readonly json: JsonText; readonly known: Known<T> }

/** A batch as the writing thread gets it. */
export interface CommandBatch<C extends Command> {
  readonly commands: readonly C[]
  readonly lane: LaneName
}

/** Replaces what can be large in a command by JSON, to send it to the writing thread. */
export function packCommand<C extends Command>(command: C): C {
  return withoutListener(replaceLarge(command, jsonOf))
}

export function unpackCommand<C extends Command>(command: C): C {
  return replaceLarge(command, (json) => parseText(json as JsonText))
}

/** @param moved gets the buffer that is made for a large value */
function pack<T extends object>(value: T, knownOf: (value: T) => Known<T>, moved: ArrayBufferLike[]): Packed<T> {
  const text = jsonOf(value)
  if (!isLarge(text)) return stringOf(text)
  if (typeof text !== 'string') return { json: text, known: knownOf(value) }
  // Bytes are moved to the other thread. A string would be copied twice, and stay in this thread until its garbage is collected.
  const json = new TextEncoder().encode(text)
  moved.push(json.buffer)
  return { json, known: knownOf(value) }
}

function unpack<T extends object>(packed: Packed<T>): T {
  return typeof packed === 'string' ? JSON.parse(packed) : defer(packed.json, packed.known)
}

const unpackAny = (packed: unknown) => unpack(packed as Packed<object>)

/** The outcome of a verb, with the order or the shipment in it replaced. */
function replaceInOutcome(
  verb: StoreVerb | undefined,
  outcome: CommandOutcome,
  replace: { readonly order: (order: unknown) => unknown; readonly shipment: (shipment: unknown) => unknown }
): CommandOutcome {
  if (!('value' in outcome)) return outcome
  if (verb === 'changeOrder' || verb === 'setOrderStatus') return { ...outcome, value: replace.order(outcome.value) }
  if (verb === 'placeOrder') {
    const placed = outcome.value as Placed
    return { ...outcome, value: { ...placed, order: replace.order(placed.order) } }
  }
  if (verb !== 'shipOrder') return outcome
  const shipped = outcome.value as Shipped
  return { ...outcome, value: { ...shipped, shipment: replace.shipment(shipped.shipment) } }
}

/**
 * Replaces what can be large in the outcomes of commands, to send them to the serving thread.
 * @returns `moved` the buffers of the outcomes that nothing else uses
 */
export function packOutcomes(
  commands: readonly Command[],
  outcomes: readonly CommandOutcome[]
): { readonly outcomes: readonly CommandOutcome[]; readonly moved: readonly ArrayBufferLike[] } {
  const moved: ArrayBufferLike[] = []
  const order = (value: unknown) => pack(value as Order, knownOf, moved)
  const shipment = (value: unknown) => pack(value as Shipment, shipmentKnown, moved)
  return { outcomes: outcomes.map((outcome, i) => replaceInOutcome(commands[i]?.verb, outcome, { order, shipment })), moved }
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
    return 'value' in outcome
      ? { ...outcome, value: outcome.value as Result }
      : { error: fromFailure(outcome.failure, verb ?? 'a command') }
  })
}
