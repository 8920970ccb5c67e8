import type { DocumentSchema } from '../schemas/document.ts'
import { orderStatus } from '../schemas/order-status.ts'
import { product } from '../schemas/product.ts'
import { changedOrder, purchaseOrder } from '../schemas/purchase-order.ts'
import { shipment } from '../schemas/shipment.ts'
import { stock } from '../schemas/stock.ts'
import { delivery, webhook } from '../schemas/webhook.ts'

/** The schemas of all documents that a request can carry, by the name that jobs use. */
export const documentSchemas: ReadonlyMap<string, DocumentSchema<unknown>> = new Map(
  [purchaseOrder, changedOrder, product, stock, orderStatus, shipment, webhook, delivery].map((schema) => [schema.name, schema])
)
