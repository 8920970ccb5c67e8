/**
 * Threads exchange orders as JSON text. A large order stays text in the serving thread, because parsing 10,000 lines would
 * block it for 20 ms. For a small order, too, text is faster than the structured clone of a message port.
 */

import { defer, isLarge, type JsonText, jsonOf, type Known, parseText, stringOf } from '../domain/deferred.ts'
import type { Order } from '../domain/order.ts'
import type { Shipment } from '../domain/shipping.ts'
import type { Placed, Shipped, Store, StoreVerb } from '../domain/store.ts'
import type { Settled } from './batcher.ts'
import { type CommandOutcome, fromFailure, type Postponed } from './outcomes.ts'
import { knownOf } from './rows.ts'
import { shipmentKnown } from './shipment-rows.ts'

/** A verb of the store that a thread performs, with its arguments. */
export interface Command<V extends StoreVerb = StoreVerb> {
  readonly verb: V
  readonly args: Parameters<Store[V]>
}

/** The id of the order that a command changes. */
export function changedOrder({ verb, args }: Command): string | undefined {
  const isChange = verb === 'changeOrder' || verb === 'setOrderStatus' || verb === 'shipOrder'
  return isChange ? (args as Command<typeof verb>['args'])[0] : undefined
}

/** Who sent a command, if that is known. */
export function senderOf({ verb, args }: Command): string | undefined {
  if (verb === 'placeOrder') return (args as Command<typeof verb>['args'])[0].sender
  if (verb === 'changeOrder') return (args as Command<typeof verb>['args'])[4]?.sender
  if (verb === 'createProduct' || verb === 'deleteProduct') return (args as Command<typeof verb>['args'])[2]?.sender
  if (verb === 'putProduct' || verb === 'putStock') return (args as Command<typeof verb>['args'])[3]?.sender
  return verb === 'setOrderStatus' || verb === 'shipOrder' ? (args as Command<typeof verb>['args'])[3]?.sender : undefined
}

/** The bytes of a stored order that a command may name. */
export function mostNamed({ verb, args }: Command): number {
  const allowed = verb === 'placeOrder' ? (args as Command<typeof verb>['args'])[0].mostNamed : undefined
  return allowed ?? Number.POSITIVE_INFINITY
}

/** An order or a shipment as JSON. A large one also has the properties that can be read without parsing it. */
type Packed<T> = string | { readonly json: JsonText; readonly known: Known<T> }

/** Replaces the part of a command that can be large: an order, a shipment, the details of a status. */
function replaceLarge<C extends Command>(command: C, replace: (value: object) => unknown): C {
  const { verb, args } = command
  if (verb === 'placeOrder') {
    const [placing] = args as Command<'placeOrder'>['args']
    return { ...command, args: [{ ...placing, order: replace(placing.order) }] }
  }
  if (verb === 'changeOrder') {
    const [id, order, ...rest] = args as Command<'changeOrder'>['args']
    return { ...command, args: [id, replace(order), ...rest] }
  }
  if (verb === 'shipOrder') {
    const [id, shipment, ...rest] = args as Command<'shipOrder'>['args']
    return { ...command, args: [id, replace(shipment), ...rest] }
  }
  if (verb === 'setOrderStatus') {
    const [id, status, expected, options] = args as Command<'setOrderStatus'>['args']
    return options?.details ? { ...command, args: [id, status, expected, { ...options, details: replace(options.details) }] } : command
  }
  return command
}

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
