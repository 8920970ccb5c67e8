/** The products of an order form's lines: their prices, and the quantities that can be ordered. */

import { compare, plain } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { inClaimOrder } from '../../domain/pricing.ts'
import type { Product, ProductName, ProductOption } from '../../domain/product.ts'
import { leastQuantity, type QuantityRule, quantityRule } from '../../domain/quantities.ts'
import { money, perUnit } from './format.ts'

/** The products of an order form. */
export interface FormProducts {
  /** Those that its lines name. */
  readonly named: readonly ProductOption[]
  /** Those that it offers for any line. */
  readonly offered: readonly ProductName[]
}

export const noProducts: FormProducts = { named: [], offered: [] }

/** The products of the list to choose from, each once. */
export function catalogueOptions({ named, offered }: FormProducts): readonly ProductName[] {
  const ids = new Set(offered.map(({ id }) => id))
  return [...named.filter(({ id }) => !ids.has(id)), ...offered]
}

export interface LineProduct extends Pick<Product, 'name' | 'price' | 'unit'> {
  /** The current price. If the product is not in the catalogue any more, it is the price in the order. */
  readonly today: Product['price']
  /** Absent when the product is not in the catalogue any more. */
  readonly rule?: QuantityRule
}

/** The price of a line: `€9.99 each`. If the order keeps a price that differs from today's, the text has both. */
export function priceText({ price, unit, today }: LineProduct, currency: string): string {
  const text = `${money(price, currency)} ${perUnit(unit)}`
  return compare(price, today) === 0 ? text : `${text}, more at ${money(today, currency)}`
}

/** Looks up the product of a line. What the order already has keeps its name, price and unit, even if the product changed. */
export function productFinder(
  named: readonly ProductOption[],
  kept: readonly OrderItem[] = []
): (number: number, id: string) => LineProduct | undefined {
  const known = new Map(named.map((product) => [product.id, product]))
  const first = new Map(kept.toReversed().map((item) => [item.productId, item]))
  return (number, id) => {
    const product = known.get(id)
    const rule = product && { rule: quantityRule(product) }
    const own = kept[number - 1]
    const item = own?.productId === id ? own : first.get(id)
    if (item) return { name: item.name, price: item.unitPrice, unit: item.unit, today: product?.price ?? item.unitPrice, ...rule }
    return product && { name: product.name, price: product.price, unit: product.unit, today: product.price, ...rule }
  }
}

/** The order's current prices and their quantities by product, in the order in which lines claim them, as JSON for the script. */
export function keptPrices(kept: readonly OrderItem[] | undefined): string | undefined {
  if (!kept) return undefined
  const prices = new Map<string, [price: string, quantity: string][]>()
  for (const { productId, unitPrice, quantity } of inClaimOrder(kept)) {
    const own = prices.get(productId) ?? []
    own.push([unitPrice, quantity])
    prices.set(productId, own)
  }
  return JSON.stringify(Object.fromEntries(prices))
}

/** The least quantity and the step of a product, which the script checks. */
export function quantityLimits(rule: QuantityRule): { readonly least: string; readonly step: string } {
  return { least: plain(leastQuantity(rule)), step: plain(rule.step) }
}
