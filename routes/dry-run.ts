/** Answers what an order would be. Nothing is stored, taken from stock, remembered or sent. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Order } from '../domain/order.ts'
import type { Placing } from '../domain/store.ts'
import { checking } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import type { QuerySchema } from '../http/query-schema.ts'
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
    return reply.sendChecked(order)
  }
}
