import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { guest, mayChange, maySee } from '../domain/caller.ts'
import { orderNotFound } from '../domain/errors.ts'
import type { Order } from '../domain/order.ts'
import { FairLimiter } from '../fairness/fair-limiter.ts'
import { unlimited } from '../fairness/quota.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The order, if the caller may see it. @throws DomainError `order-not-found`, also when the caller may not see it */
    visibleOrder(id: string): Promise<Order>
    /**
     * The order, if the caller may change and cancel it.
     * @throws DomainError `order-not-found`, Problem `forbidden` when the caller may only see it
     */
    changeableOrder(id: string): Promise<Order>
  }
}

/**
 * A stored order can have megabytes, and on PostgreSQL all reads share a few connections. So one caller reads few at once, and others'
 * reads never wait for all of them.
 */
const orderReads = {
  running: { total: 6, perCaller: 2 },
  waiting: unlimited
} as const

/** Hides orders that the caller may not see. They get 404, because 403 would reveal that the order exists. */
export default fp(
  async function visibility(app: FastifyInstance) {
    const reads = new FairLimiter(orderReads)

    app.decorateRequest('visibleOrder', async function (this: FastifyRequest, id: string): Promise<Order> {
      const order = await reads.run(this.sender().name, () => app.store.order(id))
      if (!maySee(this.caller ?? guest, order)) throw orderNotFound()
      return order
    })

    app.decorateRequest('changeableOrder', async function (this: FastifyRequest, id: string): Promise<Order> {
      const order = await this.visibleOrder(id)
      if (mayChange(this.caller ?? guest, order)) return order
      throw new Problem(
        'forbidden',
        'Only the customer who placed this order can change or cancel it. With the scope fulfilment you can see it and set its status.'
      )
    })
  },
  { name: 'visibility', fastify: '5.x', dependencies: ['auth', 'documents', 'problems', 'store'] }
)
