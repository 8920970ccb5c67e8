/** Decides where a page or a batch of products ends. It ends early when the products are large, because each is written in one piece. */

import type { Product } from './product.ts'

/** The most weight of a page and of a batch of the whole catalogue. A product that weighs more has a page or a batch of its own. */
export const mostWeight = { page: 512 * 1024, batch: 128 * 1024 } as const

/** The weight of the element around a text. */
const elementWeight = 32

type Texts = Pick<Product, 'name' | 'categories' | 'images'> & { readonly description?: string | null }

/** Characters of a product's texts in a document. Fields that every product has are not counted, because the limit of the list bounds them. */
export function weightOf({ name, description, categories, images }: Texts): number {
  let weight = elementWeight + name.length + (description?.length ?? 0)
  for (const text of categories) weight += elementWeight + text.length
  for (const text of images) weight += elementWeight + text.length
  return weight
}

/** Returns a function to call for each product in turn. It returns whether the product still fits. The first always does. */
export function makeFits(most: number): (product: Texts) => boolean {
  let weight = 0
  return (product) => {
    const isFirst = weight === 0
    weight += weightOf(product)
    return isFirst || weight <= most
  }
}

/**
 * The most bytes of texts to read for each product when all rows of a list are read at once. For all rows together, this is a few
 * times what fits. The store reads the texts of a larger product only when the list gets to it.
 */
export function rowShare(most: number, rows: number): number {
  return Math.ceil((4 * most) / rows)
}
