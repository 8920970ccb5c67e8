import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OrderHead } from '../domain/order.ts'
import { isConditional } from '../http/conditions.ts'
import type { Context, Validators } from '../representations/representation.ts'

/**
 * Tries to answer a conditional read of an order without its content, which can have megabytes.
 * @returns whether the request is answered
 * @throws DomainError `order-not-found`, `precondition-failed`
 */
export async function revalidateOrder(
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
  validators: (order: OrderHead, context: Context) => Validators
): Promise<boolean> {
  if (!isConditional(request.headers)) return false
  const head = await request.visibleOrderHead(id)
  return reply.revalidate(validators(head, request.context()), false)
}
