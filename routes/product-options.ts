import type { FastifyRequest } from 'fastify'
import { isGtin, isProductId, type ProductOption } from '../domain/product.ts'
import type { Store } from '../domain/store.ts'
import { type FormProducts, noProducts } from '../representations/views/order-form-products.ts'

/** The number of products that every form offers. The script looks the others up. */
const offeredAtMost = 100
const namedAtMost = 100

/** The names and values of a form's fields. */
type Fields = ReadonlyMap<string, string>

const isProductField = (name: string) => /^item\.\d+\.product-id$/.test(name)

/** The typed product of each line that has one, by the name of its field. */
function typedCodes(fields: Fields): readonly (readonly [field: string, code: string])[] {
  return [...fields].filter(([name]) => isProductField(name)).map(([name, value]) => [name, value.trim()] as const)
}

/** The products of an order form. It has none while the store is gone: it must still show the typed values. */
export function formProducts(request: FastifyRequest, fields: Fields): Promise<FormProducts> {
  const ids = typedCodes(fields).map(([, code]) => code)
  const find = async (store: Store) => {
    const [named, offered] = await Promise.all([findCoded(store, ids), store.productNames(offeredAtMost)])
    return { named, offered }
  }
  return request.read(find).catch(() => noProducts)
}

/** The fields of a form, with the id of the product in place of each GTIN: scanning a barcode types the GTIN. */
export async function withoutBarcodes(request: FastifyRequest, fields: Fields): Promise<Fields> {
  const scanned = typedCodes(fields).filter(([, code]) => isGtin(code))
  const codes = scanned.map(([, code]) => code)
  const products = await request.read((store) => findCoded(store, codes)).catch(() => [])
  const ids = new Set(products.map(({ id }) => id))
  const idsByGtin = new Map(products.map(({ id, gtin }) => [gtin, id]))
  const read = new Map(fields)
  for (const [name, code] of scanned) {
    const id = ids.has(code) ? code : idsByGtin.get(code)
    if (id !== undefined) read.set(name, id)
  }
  return read
}

async function findCoded(store: Store, typed: readonly string[]): Promise<readonly ProductOption[]> {
  const codes = [...new Set(typed)].filter(isProductId).slice(0, namedAtMost)
  return codes.length === 0 ? [] : store.productsCoded(codes)
}
