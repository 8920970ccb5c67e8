import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { isDeferred } from '../domain/deferred.ts'
import { firstStatus, type PurchaseOrder } from '../domain/order.ts'
import type { Placed, Placing, Store } from '../domain/store.ts'
import { orderOptions } from './order-options.ts'

/**
 * Places an order for a request; a large one in the caller's turn. If it names a large stored order, the store says so before it reads
 * that order. The request is then charged for the stored order, and room in memory is reserved for it.
 * @throws Problem `overloaded`, and DomainError what `Store.placeOrder` throws
 */
export async function placeOrder(store: Store, request: FastifyRequest, placing: Placing): Promise<Placed> {
  if (isDeferred(placing.order)) await request.largeWriteTurn()
  const placed = await request.makingRoom(
    (mostNamed) => store.placeOrder({ ...placing, mostNamed }),
    (size) => request.chargeForOrder(size)
  )
  if (placing.mode !== 'dry-run') request.orderOutcome = placed.replayed ? 'replayed' : placed.outcome
  if (placed.replayed || placed.outcome === 'repeated') request.holdOrder(placed.order)
  return placed
}

/** The order of a request's body, with its sender, its customer and its first status. */
export function placingOf(request: FastifyRequest, { ACCEPTANCE }: Config): Placing {
  const { body, caller } = request
  const customer = caller.kind === 'key' ? { customer: caller.customer } : {}
  return { order: body as PurchaseOrder, ...orderOptions(request), status: firstStatus(ACCEPTANCE), ...customer }
}
