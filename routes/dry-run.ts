/** Answers what an order would be. Nothing is stored, taken from stock, remembered or sent. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { textOf } from '../domain/deferred.ts'
import type { Order } from '../domain/order.ts'
import type { Placing } from '../domain/store.ts'
import { checking } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import type { QuerySchema } from '../http/query-schema.ts'
import { checkedOrderRepresentations } from '../representations/checked-order.ts'
import { type Representation, variantOf } from '../representations/representation.ts'
import { placeOrder } from './placing.ts'

export interface DryRunQuery {
  readonly 'dry-run'?: boolean
}

export const dryRunQuery: QuerySchema<DryRunQuery> = {
  type: 'object',
  properties: {
    'dry-run': {
      type: 'boolean',
      description: 'Answer the order as it would be, or the refusal that it would get. Nothing is stored.'
    }
  }
}

export function isDryRun({ query }: FastifyRequest): boolean {
  return (query as DryRunQuery)['dry-run'] === true
}

/**
 * Refuses a parameter that would be ignored but is clearly meant as `dry-run`, because its client wants nothing to be stored.
 * @throws Problem `malformed-request`
 */
export const refuseStrayDryRun = checking(({ query, method, routeOptions }) => {
  for (const name of Object.keys(query ?? {})) {
    const isDryRunMeant = name.toLowerCase().replaceAll(/[^a-z]/g, '') === 'dryrun'
    const isAllowed = name === 'dry-run' && method === 'POST' && routeOptions.url?.endsWith('/order')
    if (!isDryRunMeant || isAllowed) continue
    const detail = `There is no parameter ${name} here. Only POST /order can be a dry run, with dry-run=true. Nothing was stored.`
    throw new Problem('malformed-request', detail, { faults: [{ detail, path: name }] })
  }
})

export type DryRun = (request: FastifyRequest, reply: FastifyReply, placing: Placing) => Promise<FastifyReply>

/** @param found answers with the existing order that the document repeats */
export function makeDryRun(app: FastifyInstance, found: (reply: FastifyReply, order: Order) => FastifyReply): DryRun {
  return async (request, reply, placing) => {
    request.checkIdempotencyKey()
    const { order, outcome } = await placeOrder(app.store, request, { ...placing, mode: 'dry-run' })
    if (placing.handling) reply.applyPreference(`handling=${placing.handling}`)
    if (outcome === 'repeated') return found(reply, order)
    const variant = request.representation && variantOf(checkedOrderRepresentations, request.representation.mediaType)
    if (!variant) throw new Error('an order that was checked has every representation of an order')
    const body = await write(request, variant, order)
    return reply.headers({ 'cache-control': app.cachePolicies.never, 'content-type': variant.contentType }).send(body)
  }

  async function write(request: FastifyRequest, variant: Representation<Order>, order: Order): Promise<Buffer> {
    const text = textOf(order)
    if (text === undefined) return Buffer.from(variant.write(order, request.context()))
    const context = request.context()
    const { name = '' } = checkedOrderRepresentations
    try {
      return Buffer.from(await request.withRoomFor(text, () => app.documents.write(request, name, variant.mediaType, text, context)))
    } catch (error) {
      throw error instanceof Problem && error.code === 'overloaded' ? notWritten() : error
    }
  }
}

/** Unlike an order that was placed, one that was only checked cannot be read later. */
function notWritten(): Problem {
  const detail = 'The order was checked, but the answer cannot be written now. Nothing was stored. Send it again in a few seconds.'
  return new Problem('overloaded', detail)
}
