/** The products of an order form's lines: their prices, and the quantities that can be ordered. */

import { compare, decimal, plain } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { inClaimOrder } from '../../domain/pricing.ts'
import type { Product, ProductName, ProductOption } from '../../domain/product.ts'
import { leastQuantity, meetsRule, type QuantityRule, quantityRule } from '../../domain/quantities.ts'
import type { Field } from './fields.ts'
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

/** The limits of a quantity, as the attributes of a number input. */
export function quantityLimits(rule: QuantityRule): { readonly least: string; readonly step: string } {
  return { least: plain(leastQuantity(rule)), step: plain(rule.step) }
}

/** Allows any quantity that the schema allows. */
const anyQuantity = { least: '0.001', step: '0.001' }

/**
 * Makes a quantity's field a number input, which the browser checks by the product's rule. An initial value that breaks the
 * rule may stay, since the lines of one product may reach the minimum together; the service checks that.
 */
export function numberField(field: Field, rule: QuantityRule | undefined): Field {
  const value = field.value.trim()
  if (value !== '' && !/^\d+(\.\d{1,3})?$/.test(value)) return field
  const own = rule && quantityLimits(rule)
  const isMet = !rule || value === '' || meetsRule(decimal(value), rule)
  const { least, step } = isMet && own ? own : anyQuantity
  const { pattern: _pattern, ...attributes } = field.attributes
  return { ...field, value, attributes: { ...attributes, type: 'number', min: least, step } }
}
