import type { FastifyRequest } from 'fastify'
import { productIdPattern } from '../domain/product.ts'
import type { QuerySchema } from '../http/query-schema.ts'

interface PathParameter {
  readonly description: string
  readonly examples?: readonly string[]
}

/** A schema of path parameters, for their types and for the API's description. The resource itself checks the form of its id. */
export function pathParameters<Name extends string>(parameters: Record<Name, PathParameter>): QuerySchema<Readonly<Record<Name, string>>> {
  const properties = Object.entries<PathParameter>(parameters).map(([name, parameter]) => [name, { type: 'string', ...parameter }])
  return { type: 'object', required: Object.keys(parameters), properties: Object.fromEntries(properties) }
}

export const productPath = pathParameters({
  product_id: { description: `The seller's SKU: ${productIdPattern}, but not "." or "..".`, examples: ['ABC-1'] }
})

const orderId = { description: 'Made by the server, unguessable.', examples: ['0b9f6a52-7d1e-4c0a-9f43-5e8d2a6c1b70'] }

export const orderPath = pathParameters({ order_id: orderId })

export const shipmentPath = pathParameters({
  order_id: orderId,
  number: { description: 'The position of the shipment among those of the order, from 1.', examples: ['1'] }
})

export const webhookPath = pathParameters({
  webhook_id: { description: 'Made by the server.', examples: ['5b1c7d0e-3f62-4b8e-9a55-0c4f2e7d9a13'] }
})

/** The ids in the path of a request, for code that several routes share. */
type Params = Pick<FastifyRequest, 'params'>

export function orderIdOf({ params }: Params): string {
  return (params as { readonly order_id: string }).order_id
}

export function productIdOf({ params }: Params): string {
  return (params as { readonly product_id: string }).product_id
}

export function webhookIdOf({ params }: Params): string {
  return (params as { readonly webhook_id: string }).webhook_id
}
