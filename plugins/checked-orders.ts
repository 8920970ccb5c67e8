import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { textOf } from '../domain/deferred.ts'
import type { Order } from '../domain/order.ts'
import { Problem } from '../http/problem.ts'
import { checkedOrderRepresentations } from '../representations/checked-order.ts'
import { type Representation, variantOf } from '../representations/representation.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers what an order would be, in the representation that the client asks for. @throws Problem `overloaded` */
    sendChecked(order: Order): Promise<FastifyReply>
  }
}

/** The answer to an order that is only checked: nothing is stored, taken from stock, remembered or sent. */
export default fp(
  async function checkedOrders(app: FastifyInstance) {
    app.decorateReply('sendChecked', async function (this: FastifyReply, order: Order) {
      const { request } = this
      const variant = request.representation && variantOf(checkedOrderRepresentations, request.representation.mediaType)
      if (!variant) throw new Error('an order that was checked has every representation of an order')
      const body = await write(request, variant, order)
      return this.headers({ 'cache-control': app.cachePolicies.never, 'content-type': variant.contentType }).send(body)
    })

    async function write(request: FastifyRequest, variant: Representation<Order>, order: Order): Promise<Buffer> {
      const text = textOf(order)
      if (text === undefined) return Buffer.from(variant.write(order, request.context()))
      const context = request.context()
      const { name } = checkedOrderRepresentations
      try {
        return Buffer.from(await request.withRoomFor(text, () => app.documents.write(request, name, variant.mediaType, text, context)))
      } catch (error) {
        throw error instanceof Problem && error.code === 'overloaded' ? notWritten() : error
      }
    }
  },
  {
    name: 'checked-orders',
    fastify: '5.x',
    dependencies: ['admission', 'caching', 'documents', 'negotiation', 'problems', 'representation']
  }
)

/** Unlike an order that was placed, one that was only checked cannot be read later. */
function notWritten(): Problem {
  const detail = 'The order was checked, but the answer cannot be written now. Nothing was stored. Send it again in a few seconds.'
  return new Problem('overloaded', detail)
}
