import { readFileSync } from 'node:fs'
import { DomainError, StoreOpenError } from './domain/errors.ts'
import type { ImportItem, ImportOutcome, Store } from './domain/store.ts'
import { makeXmlGate } from './plugins/xml.ts'
import { childrenOf } from './schemas/element.ts'
import { productXsd, readProduct } from './schemas/product.ts'
import { readXml } from './schemas/xml.ts'

/** Loads the sample catalogue, whose prices are in no currency but the shop's. @returns how many products it has */
export async function loadSample(store: Store): Promise<number> {
  const gate = makeXmlGate()
  const parsed = gate.parse(readFileSync(new URL('./samples/catalogue.xml', import.meta.url)))
  const refuse = (detail: string): never => {
    throw new Error(`the sample catalogue is not valid: ${detail}`)
  }
  for (const { detail, line } of gate.validate(parsed, productXsd, ['catalogue'])) refuse(`line ${line}: ${detail}`)
  const products = childrenOf(readXml(parsed.source), 'product').map((product) => readProduct(product, (_at, detail) => refuse(detail)))
  const outcomes = await fill(
    store,
    products.map(({ id = '', draft }) => ({ id, draft }))
  )
  for (const outcome of outcomes) if (typeof outcome !== 'string') refuse(outcome.message)
  return products.length
}

/** @throws StoreOpenError when the database, which is new, cannot take it */
async function fill(store: Store, items: readonly ImportItem[]): Promise<readonly ImportOutcome[]> {
  try {
    return await store.importProducts(items)
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'store-unavailable') throw error
    throw new StoreOpenError(`the sample catalogue cannot be stored: ${error.cause ?? error.message}`, { cause: error })
  }
}
