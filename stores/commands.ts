/** The store's verbs as commands, which wait in queues and go to threads. Only this file and the stores' verbs know what each argument is. */

import type { Idempotency, Store, StoreVerb } from '../domain/store.ts'
import { detailsSize, draftSize, orderSize } from './sizes.ts'

/** A verb of the store with its arguments. */
export type Command<V extends StoreVerb = StoreVerb> = {
  readonly [One in V]: { readonly verb: One; readonly args: Parameters<Store[One]> }
}[V]

/** The id of the order that a command changes. */
export function changedOrder({ verb, args }: Command): string | undefined {
  return verb === 'changeOrder' || verb === 'setOrderStatus' || verb === 'shipOrder' ? args[0] : undefined
}

/** The sender of a command, if it is known. */
export function senderOf({ verb, args }: Command): string | undefined {
  switch (verb) {
    case 'placeOrder':
      return args[0].sender
    case 'createProduct':
    case 'deleteProduct':
      return args[2]?.sender
    case 'putProduct':
    case 'putStock':
    case 'setOrderStatus':
    case 'changeOrder':
    case 'shipOrder':
      return args[3]?.sender
    default:
      return undefined
  }
}

/** Tells the sender of a command how many events it has made. */
export function tellEvents({ verb, args }: Command, events: number): void {
  if (verb === 'placeOrder') args[0].onEvents?.(events)
  else if (verb === 'changeOrder' || verb === 'setOrderStatus' || verb === 'shipOrder') args[3]?.onEvents?.(events)
}

/**
 * The command without `onEvents`, because a function cannot be sent to another thread. What is large must be JSON already: to ask a
 * deferred order for a property parses it.
 */
export function withoutListener<C extends Command>(command: C): C {
  return { ...command, args: command.args.map(withoutFunction) }
}

function withoutFunction(argument: unknown): unknown {
  if (typeof argument !== 'object' || argument === null || !('onEvents' in argument)) return argument
  const { onEvents: _, ...sent } = argument
  return sent
}

/** The most bytes of a stored order that a command may name. */
export function mostNamed({ verb, args }: Command): number {
  return (verb === 'placeOrder' ? args[0].mostNamed : undefined) ?? Number.POSITIVE_INFINITY
}

export function idempotencyOf({ verb, args }: Command): Idempotency | undefined {
  if (verb === 'placeOrder') return args[0].idempotency
  return verb === 'shipOrder' ? args[3]?.idempotency : undefined
}

/**
 * The weight of what a command sends: 1, plus 1 for each order line, imported product or KiB of text. Stored orders that the command
 * needs come on top.
 */
export function commandSize({ verb, args }: Command): number {
  switch (verb) {
    case 'placeOrder':
      return orderSize(args[0].order)
    case 'changeOrder':
      return orderSize(args[1])
    case 'shipOrder':
      return detailsSize(args[1])
    case 'setOrderStatus':
      return detailsSize(args[3]?.details ?? {})
    case 'createProduct':
    case 'putProduct':
      return draftSize(args[1])
    case 'importProducts':
      return args[0].reduce((size, { draft }) => size + draftSize(draft), 1)
    case 'touchKeys':
      return 1 + args[0].length
    default:
      return 1
  }
}

/** The command with another value in place of what can be large: an order, a shipment, the details of a status. */
export function replaceLarge<C extends Command>(command: C, replace: (value: object) => unknown): C {
  return { ...command, args: replacedArgs(command, replace) }
}

function replacedArgs({ verb, args }: Command, replace: (value: object) => unknown): readonly unknown[] {
  switch (verb) {
    case 'placeOrder':
      return [{ ...args[0], order: replace(args[0].order) }]
    case 'changeOrder':
    case 'shipOrder':
      return [args[0], replace(args[1]), ...args.slice(2)]
    case 'setOrderStatus': {
      const [id, status, expected, options] = args
      return options?.details ? [id, status, expected, { ...options, details: replace(options.details) }] : args
    }
    default:
      return args
  }
}
