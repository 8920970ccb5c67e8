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
/** Of the picture, in its own units, as its letters are. */
const roomForName = 300
const letterSize = 12

/** Quantities have up to three fraction digits; sums are exact, and only the length of a bar is rounded. */
function share(value: Decimal, most: Decimal): number {
  const of = toUnits(most, 3)
  return of <= 0n ? 0 : Number((toUnits(value, 3) * 100n) / of)
}

/** About as wide as a letter is in the fonts of browsers: ideographs and emoji fill the square, capitals most of it. */
function widthOf(letter: string): number {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff00-\uff60MW@%]/u.test(letter))
    return letterSize
  return letterSize * (/[\p{Lu}mw]/u.test(letter) ? 0.8 : 0.6)
}

function shorten(name: string): string {
  let room = roomForName
  const letters = [...name]
  const end = letters.findIndex((letter) => {
    room -= widthOf(letter)
    return room < 0
  })
  return end === -1
    ? name
    : `${letters
        .slice(0, end - 1)
        .join('')
        .trimEnd()}…`
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
  const stand = counted.length === 1 ? 'one order' : `${number(String(counted.length) as Decimal)} orders`
  const from = `From the ${stand} of this page that ${counted.length === 1 ? 'stands' : 'stand'}; the days are UTC’s.`
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
