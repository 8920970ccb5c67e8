import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { guest, mayChange, maySee } from '../domain/caller.ts'
import { DomainError, orderNotFound } from '../domain/errors.ts'
import type { Order, OrderStatus } from '../domain/order.ts'
import type { StatusDetails } from '../domain/seller-details.ts'
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
    /** Has the page of an order show its last shipments. Other representations do not have them. */
    showShipments(order: Order): Promise<void>
    /** The order, if it has the status, and the details, already: a write that is repeated changes nothing. */
    unchangedOrder(current: Order, status: OrderStatus, details?: StatusDetails): Promise<Order | undefined>
  }
}

/** The most shipments on the page of an order. */
const mostShown = 10

/** Hides orders that the caller may not see. They get 404, because 403 would reveal that the order exists. */
export default fp(
  async function visibility(app: FastifyInstance) {
    app.decorateRequest('visibleOrder', async function (this: FastifyRequest, id: string): Promise<Order> {
      const order = await app.store.order(id)
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

    app.decorateRequest('showShipments', async function (this: FastifyRequest, { id, status }: Order) {
      if (this.representation?.suffix !== 'html' || !['accepted', 'shipped', 'completed'].includes(status)) return
      const { items: shipments } = await app.store.shipments(id, { limit: mostShown })
      this.alsoShown = { shipments }
    })

    app.decorateRequest(
      'unchangedOrder',
      async function (this: FastifyRequest, current: Order, status: OrderStatus, details?: StatusDetails) {
        const isCancelledRest = status === 'cancelled' && (current.status === 'shipped' || current.status === 'completed')
        if (current.status !== status && !isCancelledRest) return undefined
        if (current.status === status && details === undefined) return current
        try {
          // Only the store compares a large order.
          return await app.store.setOrderStatus(current.id, status, { onlyRepeat: true }, details)
        } catch (error) {
          if (error instanceof DomainError && error.code !== 'store-unavailable' && error.code !== 'store-overloaded') return undefined
          throw error
        }
      }
    )
  },
  { name: 'visibility', fastify: '5.x', dependencies: ['auth', 'problems', 'store'] }
)
