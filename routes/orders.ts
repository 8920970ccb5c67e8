import fp from 'fastify-plugin'
import { hasScope } from '../domain/caller.ts'
import { type OrderStatus, orderStatuses } from '../domain/order.ts'
import { pagedQuery, pageLimit, pageUri, readCursor, writeCursor } from '../http/paging.ts'
import { uris } from '../representations/links.ts'
import { ordersRepresentations } from '../representations/orders.ts'
import type { RoutePlugin } from './route.ts'

const orderQuery = pagedQuery<{ readonly status?: OrderStatus }>({
  status: { type: 'string', enum: [...orderStatuses], description: 'Orders in this status only.' }
})

/** A page of more orders does not count the products of their lines. */
const mostCounted = pageLimit.default

const describes = {
  id: 'listOrders',
  summary: 'The orders that you may see, newest first',
  notes: 'With the scope `order` your own; with `fulfilment` all. Follow `next` to the page after.',
  answers: { 200: 'A page of orders.' }
} as const

const orders: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)

  app.get(
    '/orders',
    {
      schema: { querystring: orderQuery },
      config: { represents: ordersRepresentations, caching: 'private', access: { anyOf: ['order', 'fulfilment'] }, describes }
    },
    async (request, reply) => {
      const { limit, after, status } = request.query
      const { caller } = request
      const isSeller = caller !== undefined && hasScope(caller, 'fulfilment')
      const own = caller?.kind === 'key' && !isSeller ? { customer: caller.customer } : {}
      const page = await app.store.orders({
        limit,
        ...own,
        ...(after === undefined ? {} : { after: readCursor('orders', after) }),
        ...(status === undefined ? {} : { status }),
        lines: isSeller && request.representation?.suffix === 'html' && limit <= mostCounted
      })
      const query = { status, limit: limit === pageLimit.default ? undefined : limit }
      const next = page.next === undefined ? undefined : pageUri(uri.orders, { ...query, after: writeCursor('orders', page.next) })
      return reply.represent({
        orders: page.items,
        links: [
          { rel: 'self', href: request.url },
          { rel: 'first', href: pageUri(uri.orders, query) },
          ...(next === undefined ? [] : [{ rel: 'next', href: next }])
        ],
        query: { status }
      })
    }
  )
}

export default fp(orders, { name: 'orders', encapsulate: true, dependencies: ['representation', 'authorization'] })
