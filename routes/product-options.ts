import type { FastifyRequest } from 'fastify'
import { isGtin, isProductId, type ProductOption, withGtin } from '../domain/product.ts'
import type { Store } from '../domain/store.ts'
import type { Values } from '../representations/views/fields.ts'
import { maxFormLines } from '../representations/views/order-form-lines.ts'
import { type FormProducts, noProducts } from '../representations/views/order-form-products.ts'

/** The number of products that every form offers. The script looks the others up. */
const offeredAtMost = 100

const isProductField = (name: string) => /^item\.\d+\.product-id$/.test(name)

/** The text that was typed as the product of each line, with the name of its field. */
function typedCodes(values: Values): readonly (readonly [field: string, code: string])[] {
  return [...values].filter(([name]) => isProductField(name)).map(([name, value]) => [name, value.trim()] as const)
}

/** The products of an order form. None while the store is gone: the form must still show the typed values. */
export function formProducts(request: FastifyRequest, values: Values): Promise<FormProducts> {
  const codes = typedCodes(values).map(([, code]) => code)
  const find = async (store: Store) => {
    const [named, offered] = await Promise.all([findCoded(store, codes), store.productNames(offeredAtMost)])
    return { named, offered }
  }
  return request.read(find).catch(() => noProducts)
}

/** The values of a form, with the id of the product in place of each GTIN: scanning a barcode types the GTIN. */
export async function withoutBarcodes(request: FastifyRequest, values: Values): Promise<Values> {
  const scanned = typedCodes(values).filter(([, code]) => isGtin(code))
  const codes = scanned.map(([, code]) => code)
  const products = await request.read((store) => findCoded(store, codes)).catch(() => [])
  const ids = new Set(products.map(({ id }) => id))
  const read = new Map(values)
  for (const [name, code] of scanned) {
    const id = ids.has(code) ? code : withGtin(products, code)?.id
    if (id !== undefined) read.set(name, id)
  }
  return read
}

/** The products of the typed codes, as many as the lines of a page have. */
async function findCoded(store: Store, typed: readonly string[]): Promise<readonly ProductOption[]> {
  const codes = [...new Set(typed)].filter(isProductId).slice(0, maxFormLines)
  return codes.length === 0 ? [] : store.productsCoded(codes)
}
