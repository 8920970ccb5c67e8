import type { FastifyRequest } from 'fastify'
import type { OrderOptions } from '../domain/store.ts'
import { senderName } from '../http/sender-name.ts'

/** The options of every write of an order that a request makes. */
export function orderOptions(request: FastifyRequest): OrderOptions {
  return { sender: senderName(request), onEvents: (events) => request.chargeForEvents(events) }
}
