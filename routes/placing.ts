import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { isDeferred } from '../domain/deferred.ts'
import { firstStatus, type Order, type PurchaseOrder } from '../domain/order.ts'
import type { OrderChange, Placed, Placing, Store } from '../domain/store.ts'
import { orderOptions } from './order-options.ts'
import { chargingForStored } from './stored-size.ts'

/**
 * Places an order for a request; a large one in the caller's turn. If it names a large stored order, the store says so before it reads
 * that order. The request is then charged for the stored order, and room in memory is reserved for it.
 * @throws Problem `overloaded`, `too-many-requests`, and DomainError what `Store.placeOrder` throws
 */
export async function placeOrder(store: Store, request: FastifyRequest, placing: Placing): Promise<Placed> {
  if (isDeferred(placing.order)) await request.largeWriteTurn()
  const placeWith = (mostNamed: number, takeRoom: () => void) => {
    takeRoom()
    return store.placeOrder({ ...placing, mostNamed })
  }
  const place = () => request.makingRoom(placeWith)
  const placed = await chargingForStored(request, placing, place, newOrder)
  if (placing.mode !== 'dry-run') request.orderOutcome = placed.replayed ? 'replayed' : placed.outcome
  if (!newOrder(placed)) request.holdOrder(placed.order)
  return placed
}

/** Undefined if the order was stored before. */
function newOrder({ order, outcome, replayed }: Placed): Order | undefined {
  return replayed || outcome === 'repeated' ? undefined : order
}

/**
 * Changes an order for a request; a large one in the caller's turn.
 * @throws Problem `overloaded`, `too-many-requests`, and DomainError what `Store.changeOrder` throws
 */
export function changeOrder(
  store: Store,
  request: FastifyRequest,
  current: Order,
  { order, expected, ...options }: OrderChange
): Promise<Order> {
  const change = () => request.changeInTurn(current, () => store.changeOrder(current.id, order, expected, options))
  return chargingForStored(request, { order, ...options }, change, (changed) => changed)
}

/** The order of a request's body, with its sender, its customer and its first status. */
export function placingOf(request: FastifyRequest, { ACCEPTANCE }: Config): Placing {
  const { body, caller } = request
  const customer = caller.kind === 'key' ? { customer: caller.customer } : {}
  return { order: body as PurchaseOrder, ...orderOptions(request), status: firstStatus(ACCEPTANCE), ...customer }
}
