/** The parameter of a dry run, which answers what an order would be. Nothing is stored, taken from stock, remembered or sent. */

import type { FastifyRequest } from 'fastify'
import { checking } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import type { QuerySchema } from '../http/query-schema.ts'

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

/** Also true before the query is validated, when its values are still text. */
export function isDryRun({ query }: FastifyRequest): boolean {
  return String((query as DryRunQuery)['dry-run']) === 'true'
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
