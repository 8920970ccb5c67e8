import { type Decimal, decimal } from '../domain/money.ts'
import type { DocumentSchema } from './document.ts'
import { tokenOf } from './element.ts'
import { loadXsd } from './vocabulary.ts'

export const stockXsd = loadXsd('stock')

export const stock: DocumentSchema<{ readonly onHand: Decimal }> = {
  xsd: stockXsd,
  name: 'stock',
  roots: ['stock'],
  identity: 'product',
  read: (root) => ({ onHand: decimal(tokenOf(root, 'on-hand') ?? '') })
}
