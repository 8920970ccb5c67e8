import type { FastifyRequest } from 'fastify'
import { hasCode } from '../domain/errors.ts'
import type { Order, OrderStatus } from '../domain/order.ts'
import { hasStatus } from '../domain/order-writes.ts'
import type { Precondition } from '../domain/preconditions.ts'
import type { StatusDetails } from '../domain/seller-details.ts'
import type { Store } from '../domain/store.ts'
import { orderOptions } from './order-options.ts'

export type StatusSetter = (status: OrderStatus, expected: Precondition, details?: StatusDetails) => Promise<Order>

/** Makes a function that sets the status of an order in turn. */
export function statusSetter(store: Store, request: FastifyRequest, order: Order): StatusSetter {
  return (status, expected, details) => {
    const options = { ...orderOptions(request), details }
    return request.changeInTurn(order, () => store.setOrderStatus(order.id, status, expected, options))
  }
}

/** Returns the order if it already has the status and the details, so that a repeated request changes nothing. */
export async function orderWithStatus(
  set: StatusSetter,
  current: Order,
  status: OrderStatus,
  details?: StatusDetails
): Promise<Order | undefined> {
  const has = hasStatus(current, status)
  if (has === 'no') return undefined
  if (has === 'yes' && details === undefined) return current
  try {
    // The store compares the order, because this thread does not parse a large one.
    return await set(status, { onlyRepeat: true }, details)
  } catch (error) {
    if (hasCode(error, 'precondition-failed', 'invalid-status')) return undefined
    throw error
  }
}
