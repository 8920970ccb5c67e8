import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { guest, mayChange, maySee } from '../domain/caller.ts'
import { orderNotFound } from '../domain/errors.ts'
import type { Order, OrderHead } from '../domain/order.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The order, if the caller may see it. A large one has its room in memory until it is answered.
     * @throws DomainError `order-not-found`, also when the caller may not see it; Problem `overloaded`
     */
    visibleOrder(id: string): Promise<Order>
    /** The same without its content. For what does not show it: the content can have megabytes. */
    visibleOrderHead(id: string): Promise<OrderHead>
    /**
     * The order, if the caller may change and cancel it.
     * @throws DomainError `order-not-found`, Problem `forbidden` when the caller may only see it
     */
    changeableOrder(id: string): Promise<Order>
  }
}

/** @throws DomainError `order-not-found` when the caller may not see the order */
function visible<T extends Pick<Order, 'customer'>>({ caller = guest }: FastifyRequest, order: T): T {
  if (maySee(caller, order)) return order
  throw orderNotFound()
}

/** Hides orders that the caller may not see. They get 404, because 403 would reveal that the order exists. */
export default fp(
  async function visibility(app: FastifyInstance) {
    app.decorateRequest('visibleOrder', async function (this: FastifyRequest, id: string): Promise<Order> {
      const order = visible(this, await this.read((store) => store.order(id)))
      this.keepRoomFor(order)
      return order
    })

    app.decorateRequest('visibleOrderHead', async function (this: FastifyRequest, id: string): Promise<OrderHead> {
      return visible(this, await this.read((store) => store.orderHead(id)))
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
  { name: 'visibility', fastify: '5.x', dependencies: ['admission', 'auth', 'problems', 'store'] }
)
