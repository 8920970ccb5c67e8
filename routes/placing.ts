import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { firstStatus, type PurchaseOrder } from '../domain/order.ts'
import type { Placing } from '../domain/store.ts'
import { senderName } from '../http/sender-name.ts'

/** The order of a request's body, with its sender, its customer and its first status. */
export function placingOf(request: FastifyRequest, { ACCEPTANCE }: Config): Placing {
  const { body, caller } = request
  const customer = caller?.kind === 'key' ? { customer: caller.customer } : {}
  return { order: body as PurchaseOrder, sender: senderName(request), status: firstStatus(ACCEPTANCE), ...customer }
}
