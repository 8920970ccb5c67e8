import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { guest, maySee } from '../domain/caller.ts'
import { DomainError } from '../domain/errors.ts'
import type { Order } from '../domain/order.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The order, if the caller may see it. @throws DomainError `order-not-found`, also for one that is not theirs */
    visibleOrder(id: string): Promise<Order>
  }
}

/** An order that a caller may not see is not there for them: 403 would tell that it exists. */
export default fp(
  async function visibility(app: FastifyInstance) {
    app.decorateRequest('visibleOrder', async function (this: FastifyRequest, id: string): Promise<Order> {
      const order = await app.store.order(id)
      if (!maySee(this.caller ?? guest, order)) throw new DomainError('order-not-found', 'No order that you may see has this URI.')
      return order
    })
  },
  { name: 'visibility', fastify: '5.x', dependencies: ['auth', 'store'] }
)
