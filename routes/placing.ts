import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { firstStatus, type PurchaseOrder } from '../domain/order.ts'
import type { Placing } from '../domain/store.ts'

/** The order of a request's body, with its customer and its first status. */
export function placingOf({ body, caller }: FastifyRequest, { ACCEPTANCE }: Config): Placing {
  const customer = caller?.kind === 'key' ? { customer: caller.customer } : {}
  return { order: body as PurchaseOrder, status: firstStatus(ACCEPTANCE), ...customer }
}
