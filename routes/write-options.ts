import type { FastifyRequest } from 'fastify'
import type { WriteOptions } from '../domain/store.ts'
import { senderName } from '../http/sender-name.ts'

/** The options of every write that a request makes. */
export function writeOptions(request: FastifyRequest): WriteOptions {
  return { sender: senderName(request), onEvents: (events) => request.chargeForEvents(events) }
}
