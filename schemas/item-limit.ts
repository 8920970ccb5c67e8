import type { Fault } from '../domain/errors.ts'
import type { DocumentSchema } from './document.ts'

/**
 * The fault of a document that has more items than an order may have. It is looked for before the document is validated, because to
 * validate 60,000 items takes seconds.
 * @param most the most items of an order
 */
export function excessItems(items: number, { hasOrderItems }: DocumentSchema<unknown>, most: number): Required<Fault> | undefined {
  if (!hasOrderItems || items <= most) return undefined
  const detail = `An order may have ${most} items at most; this document has ${items}.`
  return { at: ['item', most + 1], detail, code: 'too-many-items' }
}
