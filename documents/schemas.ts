import type { DocumentSchema } from '../schemas/document.ts'
import { orderStatus } from '../schemas/order-status.ts'
import { product } from '../schemas/product.ts'
import { changedOrder, purchaseOrder } from '../schemas/purchase-order.ts'
import { stock } from '../schemas/stock.ts'

/** Every document that a request can bring, by the name that crosses between the processes. */
export const documentSchemas: ReadonlyMap<string, DocumentSchema<unknown>> = new Map(
  [purchaseOrder, changedOrder, product, stock, orderStatus].map((schema) => [schema.name, schema])
)
