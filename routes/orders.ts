import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Caller, hasScope, listingScopes, mostCustomerCharacters, onlyListedCustomer } from '../domain/caller.ts'
import { fromJson, joinTexts, jsonOf, listed } from '../domain/deferred.ts'
import { hasCode } from '../domain/errors.ts'
import { type Order, orderStatuses, type StoredOrderHead } from '../domain/order.ts'
import { orderList } from '../domain/order-list.ts'
import type { Page, PageQuery } from '../domain/page.ts'
import type { OrderQuery } from '../domain/store.ts'
import { readInstant } from '../http/dates.ts'
import { ordersSorting } from '../http/masked-names.ts'
import { firstLink, nextLinks, pagedQuery, pageLimit, startOfPage } from '../http/paging.ts'
import { Problem } from '../http/problem.ts'
import { uris } from '../representations/links.ts'
import { type OrderFilters, type OrderPage, ordersRepresentations } from '../representations/orders.ts'
import { pageOf, type Validators } from '../representations/representation.ts'
import { mostOrderNumberCharacters } from '../schemas/purchase-order.ts'
import { tidyFilters } from './order-filters.ts'
import type { RoutePlugin } from './route.ts'

const orders: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)

  app.get(
    '/orders',
    {
      schema: { querystring: orderQuery },
      preValidation: tidyFilters,
      config: { represents: ordersRepresentations, caching: 'private', access: { anyOf: listingScopes }, describes }
    },
    async (request, reply) => {
      const { limit, after, ...parameters } = request.query
      const { with: shape, ...filters } = parameters
      const { caller } = request
      const wanted = { ...filtersOf(filters, caller), limit }
      const sorting = sortingOf(wanted)
      const query = { ...wanted, ...startOfPage(sorting, after) }
      const validators = validatorsOf(request.query, caller, await request.read((store) => store.ordersRevision(wanted.customer)))
      if (reply.revalidate(validators)) return reply
      const list = { path: uri.orders, sorting, filters: parameters, limit }
      const restOf = ({ next }: Page<unknown>) => ({
        links: [{ rel: 'self', href: request.url }, firstLink(list), ...nextLinks(list, next)],
        query: filters,
        validators
      })
      const { isPage } = request
      if (shape === 'lines' && !isPage) {
        const page = await request.readMakingRoom((store, most) => store.wholeOrders(query, most))
        const whole = wholePage(page.items, restOf(page))
        request.holdRead(whole)
        return reply.represent(whole)
      }
      await request.listTurn(limit)
      const lines = isPage && hasScope(caller, 'fulfilment') && limit <= mostCounted
      const page = await request.read((store) => store.orders({ ...query, lines }))
      const named = isPage && page.items.length === 0 ? await orderWithId(request, filters['order-number']) : undefined
      if (named) return reply.redirect(uri.order(named.id), 303)
      return reply.represent({ orders: page.items, ...restOf(page) } satisfies OrderPage)
    }
  )
}

interface Filters extends OrderFilters {
  readonly with?: 'lines'
}

/** PostgreSQL accepts no NUL in a text. */
const text = { type: 'string', minLength: 1, pattern: '^[^\\u0000]*$' } as const
const time = { type: 'string', format: 'date-time' } as const

const orderQuery = pagedQuery<Filters>({
  status: { type: 'string', enum: [...orderStatuses], description: 'Orders in this status only.' },
  customer: {
    ...text,
    maxLength: mostCustomerCharacters,
    description: 'Orders of this customer only.'
  },
  'order-number': { ...text, maxLength: mostOrderNumberCharacters, description: "Orders with this order number (the buyer's own) only." },
  'placed-since': { ...time, description: 'Placed in this second or later (RFC 3339).' },
  'modified-since': {
    ...time,
    description: 'Modified in this second or later, and sorted by that time.'
  },
  order: {
    type: 'string',
    enum: ['newest', 'oldest'],
    description: 'The sort order; the default is `newest`, which lists the newest first.'
  },
  with: {
    type: 'string',
    enum: ['lines'],
    description: 'Whole orders, in XML and JSON.'
  }
})

/** The largest limit of a page that counts the products of its orders' lines. */
const mostCounted = pageLimit.default

const describes = {
  id: 'listOrders',
  summary: 'The orders that you may see',
  notes:
    'A key with `order` lists the orders of its customer, and one with `fulfilment` lists all. Follow `next` even if a page is short or empty.',
  answers: { 200: 'A page of orders.' },
  problems: ['forbidden']
} as const

/** The order that a person means who fills in the id of an order where its number was asked. */
async function orderWithId(request: FastifyRequest, id: string | undefined): Promise<StoredOrderHead | undefined> {
  if (id === undefined) return undefined
  try {
    return await request.visibleOrderHead(id)
  } catch (error) {
    if (hasCode(error, 'order-not-found')) return undefined
    throw error
  }
}

/** Times are compared by the second, which is what the orders show. */
const second = (parameter: string, time: string) => Math.floor(readInstant(parameter, time) / 1000) * 1000

/** @throws Problem `malformed-request` when a time is not valid, `forbidden` when the caller may not see the customer's orders */
function filtersOf(query: Filters, caller: Caller): Omit<OrderQuery, 'limit' | 'after'> {
  const { status, customer, order, 'order-number': orderNumber, 'placed-since': placedSince, 'modified-since': modifiedSince } = query
  const own = onlyListedCustomer(caller)
  if (own !== undefined && customer !== undefined && customer !== own)
    throw new Problem('forbidden', `Your key lists the orders of ${own} only. Those of other customers need the scope fulfilment.`)
  const whose = own ?? customer
  return {
    ...(whose === undefined ? {} : { customer: whose }),
    ...(status === undefined ? {} : { status }),
    ...(orderNumber === undefined ? {} : { orderNumber }),
    ...(placedSince === undefined ? {} : { placedSince: second('placed-since', placedSince) }),
    ...(modifiedSince === undefined ? {} : { modifiedSince: second('modified-since', modifiedSince) }),
    ...(order === undefined ? {} : { order })
  }
}

/** Each order of sorting has cursors of its own. */
function sortingOf(query: Omit<OrderQuery, 'after'>): string {
  const { by, direction } = orderList(query)
  return [ordersSorting, ...(by === 'placed' ? [] : [by]), ...(direction === 'newest' ? [] : [direction])].join('-')
}

/**
 * The validators of a page, by the revision before it was read. The page may show later changes, so its tag is weak. An equal tag
 * means that nothing has changed since. Callers with different rights see different orders and links.
 */
function validatorsOf(query: Filters & PageQuery, caller: Caller, revision: string): Validators {
  const version = hash('sha256', JSON.stringify([revision, caller, query])).slice(0, 24)
  return { version, isWeak: true, ...pageOf(caller) }
}

/** The whole orders become a page as text, so that this thread parses no large one, nor many. */
function wholePage(orders: readonly Order[], rest: Omit<OrderPage, 'orders'>): OrderPage {
  const texts = listed(orders.map((order) => [jsonOf(order)]))
  return fromJson<OrderPage>(joinTexts(['{"orders":[', ...texts, '],', JSON.stringify(rest).slice(1)]), rest)
}

export default fp(orders, { name: 'orders', encapsulate: true, dependencies: ['representation', 'authorization', 'sharing', 'visibility'] })
