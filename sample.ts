import { readFileSync } from 'node:fs'
import { hasCode, StoreOpenError } from './domain/errors.ts'
import type { ImportItem, ImportOutcome } from './domain/product-writes.ts'
import type { Store } from './domain/store.ts'
import { serviceFile } from './files.ts'
import { childrenOf } from './schemas/element.ts'
import { readProduct } from './schemas/product.ts'
import { readXml } from './schemas/xml.ts'

export const sampleFile = serviceFile('samples/catalogue.xml')

/**
 * Loads the sample catalogue. Its prices name no currency, so they are in the shop's. It is not validated here, since libxml2
 * must not be loaded into the serving process; a test validates it instead.
 * @returns the number of products
 */
export async function loadSample(store: Store): Promise<number> {
  const refuse = (detail: string): never => {
    throw new Error(`the sample catalogue is not valid: ${detail}`)
  }
  const catalogue = readXml(readFileSync(sampleFile, 'utf8'))
  const products = childrenOf(catalogue, 'product').map((product) => readProduct(product, (_at, detail) => refuse(detail)))
  const outcomes = await storeProducts(
    store,
    products.map(({ id = '', draft }) => ({ id, draft }))
  )
  for (const outcome of outcomes) if (typeof outcome !== 'string') refuse(outcome.message)
  return products.length
}

/** @throws StoreOpenError when the new database cannot store the products */
async function storeProducts(store: Store, items: readonly ImportItem[]): Promise<readonly ImportOutcome[]> {
  try {
    return await store.importProducts(items)
  } catch (error) {
    if (!hasCode(error, 'store-unavailable', 'store-overloaded')) throw error
    throw new StoreOpenError(`the sample catalogue cannot be stored: ${error.cause ?? error.message}`, { cause: error })
  }
}
