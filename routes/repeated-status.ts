import type { FastifyRequest } from 'fastify'
import { hasCode } from '../domain/errors.ts'
import type { Order, OrderStatus } from '../domain/order.ts'
import { hasStatus } from '../domain/order-writes.ts'
import type { StatusDetails } from '../domain/seller-details.ts'
import type { Store } from '../domain/store.ts'

/** Makes the store's `setOrderStatus` for a request that changes an order in turn. */
export function statusSetter(store: Store, request: FastifyRequest, order: Order): Store['setOrderStatus'] {
  return (...args) => request.changeInTurn(order, () => store.setOrderStatus(...args))
}

/** Returns the order if it already has the status and the details, so that a repeated request changes nothing. */
export async function orderWithStatus(
  setOrderStatus: Store['setOrderStatus'],
  current: Order,
  status: OrderStatus,
  details?: StatusDetails
): Promise<Order | undefined> {
  const has = hasStatus(current, status)
  if (has === 'no') return undefined
  if (has === 'yes' && details === undefined) return current
  try {
    // Only the store compares a large order.
    return await setOrderStatus(current.id, status, { onlyRepeat: true }, details)
  } catch (error) {
    if (hasCode(error, 'precondition-failed', 'invalid-status')) return undefined
    throw error
  }
}
