/** The products of an order form's lines: their prices, and the quantities that can be ordered. */

import { defined } from '../../domain/defined.ts'
import { compare, type Decimal, plain } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { inClaimOrder } from '../../domain/pricing.ts'
import type { Availability, Product, ProductName, ProductOption } from '../../domain/product.ts'
import { leastQuantity, type QuantityRule, quantityRule } from '../../domain/quantities.ts'
import { shownPriceField } from '../../schemas/form.ts'
import type { Context } from '../representation.ts'
import { money, number, quantity } from './format.ts'
import { linesOf } from './order-form-lines.ts'
import { perUnit } from './units.ts'

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
  /** Absent for a product that the order has already. */
  readonly availability?: Availability
  /** How much of the line was shipped. A changed order has at least that. */
  readonly shipped?: Decimal
}

/** A line says this after the price of a product that is not in stock. The script uses the texts, too. */
export const stockTexts: Readonly<Partial<Record<Availability, string>>> = { backorder: 'on backorder', 'out-of-stock': 'out of stock' }

/**
 * The price of a line: `€9.99 each`, with what people must know before they order: another price for more than the order has already,
 * or that the product is not in stock.
 */
export function priceText({ price, unit, today, availability }: LineProduct, currency: string): string {
  const stock = availability && stockTexts[availability]
  return [
    `${money(price, currency)} ${perUnit(unit)}`,
    ...(compare(price, today) === 0 ? [] : [`more at ${money(today, currency)}`]),
    ...(stock === undefined ? [] : [stock])
  ].join(', ')
}

/** The hidden field with the price of a line that the page shows. schemas/form.ts reads it. */
export function shownPrice(line: number, productId: string, price: Decimal): readonly [name: string, value: string] {
  return [`${shownPriceField}${line}`, `${productId} ${price}`]
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
    const isOwn = own?.productId === id
    const item = isOwn ? own : first.get(id)
    if (item) {
      const shipped = defined({ shipped: isOwn ? own.shippedQuantity : undefined })
      return { name: item.name, price: item.unitPrice, unit: item.unit, today: product?.price ?? item.unitPrice, ...rule, ...shipped }
    }
    if (!product) return undefined
    const { name, price, unit, availability } = product
    return { name, price, unit, today: price, availability, ...rule }
  }
}

/** The fields of an order that was checked, with the prices that its page shows. */
export function withShownPrices(typed: NonNullable<Context['typed']>, items: readonly OrderItem[]): NonNullable<Context['typed']> {
  const others = typed.filter(([name]) => !name.startsWith(shownPriceField))
  const lines = [...linesOf(new Map(others))].filter(([, filled]) => filled.length > 0)
  return [...others, ...lines.flatMap(([number], i) => (items[i] ? [shownPrice(number, items[i].productId, items[i].unitPrice)] : []))]
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

/** The hint of a line of which something was shipped. */
export function shippedText(shipped: Decimal, unit: string): string {
  return `${quantity(shipped, unit)} shipped: order at least ${number(shipped)}.`
}

/** The least quantity and the step of a product, which the script checks. */
export function quantityLimits(rule: QuantityRule): { readonly least: string; readonly step: string } {
  return { least: plain(leastQuantity(rule)), step: plain(rule.step) }
}
