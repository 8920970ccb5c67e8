import type { FastifyRequest } from 'fastify'
import { productIdPattern } from '../domain/product.ts'
import type { QuerySchema } from '../http/query-schema.ts'

/** Path parameters, for their types and for the API's description. The resource itself checks the form of its id. */

export const productPath: QuerySchema<{ readonly product_id: string }> = {
  type: 'object',
  required: ['product_id'],
  properties: {
    product_id: { type: 'string', description: `The seller's SKU: ${productIdPattern}, but not "." or "..".`, examples: ['ABC-1'] }
  }
}

const orderId = { type: 'string', description: 'Made by the server, unguessable.', examples: ['0b9f6a52-7d1e-4c0a-9f43-5e8d2a6c1b70'] }

export const orderPath: QuerySchema<{ readonly order_id: string }> = {
  type: 'object',
  required: ['order_id'],
  properties: { order_id: orderId }
}

/** The order id of a request, for the pages of a form, whose routes have other parameters. */
export function orderIdOf({ params }: FastifyRequest): string {
  return (params as { readonly order_id: string }).order_id
}

export const shipmentPath: QuerySchema<{ readonly order_id: string; readonly number: string }> = {
  type: 'object',
  required: ['order_id', 'number'],
  properties: {
    order_id: orderId,
    number: { type: 'string', description: 'The position of the shipment among those of the order, from 1.', examples: ['1'] }
  }
}

export const webhookPath: QuerySchema<{ readonly webhook_id: string }> = {
  type: 'object',
  required: ['webhook_id'],
  properties: {
    webhook_id: { type: 'string', description: 'Made by the server.', examples: ['5b1c7d0e-3f62-4b8e-9a55-0c4f2e7d9a13'] }
  }
}
