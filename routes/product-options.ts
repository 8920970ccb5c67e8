import { isGtin, type Product } from '../domain/product.ts'
import type { Store } from '../domain/store.ts'

/** So many products are in the form to choose from; the script looks the others up. */
const offered = 100
const namedAtMost = 50

const isProductField = (name: string) => /^item\.\d+\.product-id$/.test(name)

/**
 * The products that an order form offers, those that its lines name first. Without a store it offers none: what a
 * person typed must come back all the same.
 */
export async function choices(store: Store, values: ReadonlyMap<string, string>): Promise<readonly Product[]> {
  const named = new Set([...values].filter(([name, value]) => isProductField(name) && value.trim() !== '').map(([, value]) => value.trim()))
  const page = await store.products({ limit: offered }).catch(() => ({ items: [] }))
  const known = new Map(page.items.map((product) => [product.id, product]))
  const missing = [...named].filter((id) => !known.has(id)).slice(0, namedAtMost)
  const found = await Promise.allSettled(missing.map((id) => store.product(id)))
  return [...found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])), ...page.items]
}

/** Where products are looked up, one by its number or many by a search. */
export type Lookup = Pick<Store, 'product' | 'products'>

/** A barcode that was scanned is a GTIN: in the lines of a form, it becomes the number of the product that has it. */
export async function withoutBarcodes(store: Lookup, values: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
  const read = new Map(values)
  const scanned = [...values].filter(([name, value]) => isProductField(name) && isGtin(value.trim())).slice(0, namedAtMost)
  // One after the other: few searches may wait, and they are everybody's.
  for (const [name, value] of scanned) {
    const id = await numberOf(store, value.trim()).catch(() => undefined)
    if (id !== undefined) read.set(name, id)
  }
  return read
}

/** A product's number may look like a GTIN, and goes before. */
async function numberOf(store: Lookup, code: string): Promise<string | undefined> {
  const named = await store.product(code).catch(() => undefined)
  if (named) return named.id
  const { items } = await store.products({ q: code, limit: namedAtMost })
  return items.find(({ gtin }) => gtin === code)?.id
}
