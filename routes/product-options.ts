import { isGtin, type Product } from '../domain/product.ts'
import type { Store } from '../domain/store.ts'

/** The number of products that every form offers. The script looks the others up. */
const offered = 100
const namedAtMost = 50

const isProductField = (name: string) => /^item\.\d+\.product-id$/.test(name)

/**
 * The products that an order form offers, beginning with those that its lines name. The form offers none while the store
 * is gone: it must still show the typed values.
 */
export async function productOptions(store: Store, values: ReadonlyMap<string, string>): Promise<readonly Product[]> {
  const named = new Set([...values].filter(([name, value]) => isProductField(name) && value.trim() !== '').map(([, value]) => value.trim()))
  const page = await store.products({ limit: offered }).catch(() => ({ items: [] }))
  const known = new Map(page.items.map((product) => [product.id, product]))
  const missing = [...named].filter((id) => !known.has(id)).slice(0, namedAtMost)
  const found = await Promise.allSettled(missing.map((id) => store.product(id)))
  return [...found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])), ...page.items]
}

/** Finds products, by id or by a search. */
export type ProductLookup = Pick<Store, 'product' | 'products'>

/** The fields of a form, with the id of the product in place of each GTIN: scanning a barcode types the GTIN. */
export async function withoutBarcodes(store: ProductLookup, values: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
  const read = new Map(values)
  const scanned = [...values].filter(([name, value]) => isProductField(name) && isGtin(value.trim())).slice(0, namedAtMost)
  // Search for one at a time: all callers share the few searches that may wait.
  for (const [name, value] of scanned) {
    const id = await idOf(store, value.trim()).catch(() => undefined)
    if (id !== undefined) read.set(name, id)
  }
  return read
}

/** The id of a product that has the code as its id or, if there is none, as its GTIN. */
async function idOf(store: ProductLookup, code: string): Promise<string | undefined> {
  const named = await store.product(code).catch(() => undefined)
  if (named) return named.id
  const { items } = await store.products({ q: code, limit: namedAtMost })
  return items.find(({ gtin }) => gtin === code)?.id
}
