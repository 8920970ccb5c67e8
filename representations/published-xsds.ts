import { orderStatusXsd } from '../schemas/order-status.ts'
import { productXsd } from '../schemas/product.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import { shipmentXsd } from '../schemas/shipment.ts'
import { stockXsd } from '../schemas/stock.ts'
import type { Xsd } from '../schemas/vocabulary.ts'
import { webhookXsd } from '../schemas/webhook.ts'
import { problemXsd } from './problem.ts'
import { serviceXsd } from './service.ts'

/** Every schema that the service publishes and describes. */
export const publishedXsds: readonly Xsd[] = [
  orderXsd,
  productXsd,
  stockXsd,
  orderStatusXsd,
  shipmentXsd,
  webhookXsd,
  serviceXsd,
  problemXsd
]
