import { add, compare, type Decimal, toUnits, zero } from '../domain/money.ts'
import { holdsStock, type Order } from '../domain/order.ts'
import { date, number, quantity } from './views/format.ts'

export interface Bar {
  readonly name: string
  /** The name as the picture has room for it. */
  readonly short: string
  readonly value: string
  /** 0 to 100, of the longest. */
  readonly share: number
}

export interface Chart {
  readonly id: string
  readonly title: string
  /** What it is computed from. */
  readonly about: string
  /** In words, for who does not see it. */
  readonly summary: string
  readonly of: string
  readonly measure: string
  readonly bars: readonly Bar[]
}

const mostBars = 10
const longestName = 28

/** Quantities have up to three fraction digits; sums are exact, and only the length of a bar is rounded. */
function share(value: Decimal, most: Decimal): number {
  const of = toUnits(most, 3)
  return of <= 0n ? 0 : Number((toUnits(value, 3) * 100n) / of)
}

function shorten(name: string): string {
  const letters = [...name]
  return letters.length > longestName ? `${letters.slice(0, longestName - 1).join('')}…` : name
}

function chart(texts: Omit<Chart, 'bars' | 'summary'>, rows: readonly { name: string; amount: Decimal; value: string }[]): Chart {
  const most = rows.reduce<Decimal>((max, { amount }) => (compare(amount, max) > 0 ? amount : max), zero)
  const bars = rows.map(({ name, amount, value }) => ({ name, short: shorten(name), value, share: share(amount, most) }))
  return { ...texts, bars, summary: bars.map(({ name, value }) => `${name}: ${value}`).join('; ') }
}

/**
 * Orders a day and units by product, from the orders of one page: what the seller looks at is what is counted. Cancelled
 * and rejected orders count in neither.
 */
export function statistics(orders: readonly Order[]): { readonly perDay: Chart; readonly perProduct: Chart } | undefined {
  const counted = orders.filter(({ status }) => holdsStock(status))
  if (counted.length === 0) return undefined
  const days = new Map<string, number>()
  const products = new Map<string, { name: string; unit: string; amount: Decimal }>()
  for (const order of counted) {
    const day = new Date(order.placedAt).toISOString().slice(0, 10)
    days.set(day, (days.get(day) ?? 0) + 1)
    for (const { productId, name, unit, quantity } of order.items) {
      const known = products.get(productId) ?? { name, unit, amount: zero }
      products.set(productId, { ...known, amount: add(known.amount, quantity) })
    }
  }
  const from = `From the ${number(String(counted.length) as Decimal)} orders of this page that stand; the days are UTC’s.`
  const byDay = [...days].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, mostBars)
  const byProduct = [...products.values()].sort((a, b) => compare(b.amount, a.amount)).slice(0, mostBars)
  return {
    perDay: chart(
      { id: 'per-day', title: 'Orders a day', about: from, of: 'Day', measure: 'Orders' },
      byDay.map(([day, count]) => ({ name: date(day), amount: String(count) as Decimal, value: String(count) }))
    ),
    perProduct: chart(
      {
        id: 'per-product',
        title: 'Units by product',
        about: `The ${mostBars} most ordered, in the unit of each.`,
        of: 'Product',
        measure: 'Units'
      },
      byProduct.map(({ name, unit, amount }) => ({ name, amount, value: quantity(amount, unit) }))
    )
  }
}
