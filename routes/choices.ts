import type { Product } from '../domain/product.ts'
import type { Store } from '../domain/store.ts'

/** So many products are in the form to choose from; the script looks the others up. */
const offered = 100
const namedAtMost = 50

/**
 * The products that an order form offers, those that its lines name first. Without a store it offers none: what a
 * person typed must come back all the same.
 */
export async function choices(store: Store, values: ReadonlyMap<string, string>): Promise<readonly Product[]> {
  const named = new Set(
    [...values].filter(([name, value]) => /^item\.\d+\.product-id$/.test(name) && value.trim() !== '').map(([, value]) => value.trim())
  )
  const page = await store.products({ limit: offered }).catch(() => ({ items: [] }))
  const known = new Map(page.items.map((product) => [product.id, product]))
  const missing = [...named].filter((id) => !known.has(id)).slice(0, namedAtMost)
  const found = await Promise.allSettled(missing.map((id) => store.product(id)))
  return [...found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])), ...page.items]
}
