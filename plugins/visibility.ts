import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { mayChange, maySee } from '../domain/caller.ts'
import { mostInline } from '../domain/deferred.ts'
import { orderNotFound } from '../domain/errors.ts'
import type { Order, StoredOrderHead } from '../domain/order.ts'
import type { Store } from '../domain/store.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The order, if the caller may see it. The request is charged for a large one, and has its room in memory until it is answered.
     * @throws DomainError `order-not-found`, also when the caller may not see it; Problem `overloaded`
     */
    visibleOrder(id: string): Promise<Order>
    /** The same without the content, which can have megabytes. For routes that do not show it. */
    visibleOrderHead(id: string): Promise<StoredOrderHead>
    /** The whole order of a head that the caller may see. A large one is not even read without room for it. */
    wholeOrder(head: StoredOrderHead): Promise<Order>
    /**
     * The order, if the caller may change and cancel it.
     * @throws DomainError `order-not-found`, Problem `forbidden` when the caller may only see it
     */
    changeableOrder(id: string): Promise<Order>
  }
}

/** Hides orders that the caller may not see. They get 404, because 403 would reveal that the order exists. */
export default fp(
  async function visibility(app: FastifyInstance) {
    app.decorateRequest('visibleOrder', async function (this: FastifyRequest, id: string): Promise<Order> {
      // The content is read only for a caller who may see it. Otherwise the cost would reveal that the order exists.
      return this.wholeOrder(await this.visibleOrderHead(id))
    })

    app.decorateRequest('visibleOrderHead', async function (this: FastifyRequest, id: string): Promise<StoredOrderHead> {
      const { caller } = this
      const head = await this.read((store) => store.orderHead(id))
      if (maySee(caller, head)) return head
      throw orderNotFound()
    })

    app.decorateRequest('wholeOrder', async function (this: FastifyRequest, { id, size }: StoredOrderHead): Promise<Order> {
      if (size > mostInline) await this.nextTurn()
      // Room is taken in the request's turn, so that those who wait for theirs leave it to others.
      const readOrder = async (store: Store) => {
        this.holdUnreadOrder(size)
        const order = await store.order(id)
        this.holdOrder(order)
        return order
      }
      return this.read(readOrder, size)
    })

    app.decorateRequest('changeableOrder', async function (this: FastifyRequest, id: string): Promise<Order> {
      const head = await this.visibleOrderHead(id)
      if (mayChange(this.caller, head)) return this.wholeOrder(head)
      throw new Problem(
        'forbidden',
        'Only the customer who placed this order can change or cancel it. With the scope fulfilment you can see it and set its status.'
      )
    })
  },
  { name: 'visibility', fastify: '5.x', dependencies: ['admission', 'auth', 'problems', 'scheduling', 'store'] }
)
