import type { OrderStatus } from '../domain/order.ts'
import type { DocumentSchema } from './document.ts'
import { tokenOf } from './element.ts'
import { loadXsd } from './vocabulary.ts'

export const orderStatusXsd = loadXsd('order-status')

export const orderStatus: DocumentSchema<{ readonly status: OrderStatus }> = {
  xsd: orderStatusXsd,
  name: 'order-status',
  roots: ['order-status'],
  read: (root) => ({ status: tokenOf(root, 'status') as OrderStatus })
}
