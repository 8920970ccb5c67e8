import { add, compare, type Decimal, toUnits, zero } from '../domain/money.ts'
import { isActive, mostSummarised, type OrderSummary } from '../domain/order.ts'
import { date, quantity } from './views/format.ts'

export interface Bar {
  readonly name: string
  /** The name, shortened to the width of the chart. */
  readonly short: string
  readonly value: string
  /** The length as a percentage of the longest bar. */
  readonly share: number
}

export interface Chart {
  readonly id: string
  readonly title: string
  /** The text that says which orders the chart counts. */
  readonly about: string
  /** The chart's values as text, for people who cannot see it. */
  readonly summary: string
  readonly of: string
  readonly measure: string
  readonly bars: readonly Bar[]
}

const maxBars = 10
/** The width of a name and of a square letter, in units of the SVG picture. */
const maxNameWidth = 300
const letterSize = 12

/** Computes a bar's length. Sums are exact (quantities have up to three fraction digits); only the length is rounded. */
function share(value: Decimal, longest: Decimal): number {
  const total = toUnits(longest, 3)
  return total <= 0n ? 0 : Number((toUnits(value, 3) * 100n) / total)
}

/** The approximate width of a letter in a browser's font: ideographs and emoji fill a square, capitals most of it. */
function widthOf(letter: string): number {
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\uff00-\uff60MW@%]/u.test(letter))
    return letterSize
  return letterSize * (/[\p{Lu}mw]/u.test(letter) ? 0.8 : 0.6)
}

function shorten(name: string): string {
  let room = maxNameWidth
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
  const longest = rows.reduce<Decimal>((max, { amount }) => (compare(amount, max) > 0 ? amount : max), zero)
  const bars = rows.map(({ name, amount, value }) => ({ name, short: shorten(name), value, share: share(amount, longest) }))
  return { ...texts, bars, summary: bars.map(({ name, value }) => `${name}: ${value}`).join('; ') }
}

const dayOf = ({ placedAt }: Counted) => new Date(placedAt).toISOString().slice(0, 10)

/** The parts of an order that the charts need. */
type Counted = Pick<OrderSummary, 'status' | 'placedAt' | 'lines'>

/** The orders that are on the page. */
export interface PageRange {
  /** The status of all of them, if the page is filtered. */
  readonly status?: string | undefined
  /** Whether there are pages before and after this one, which may have more orders of the same days. */
  readonly hasNewer: boolean
  readonly hasOlder: boolean
}

/**
 * Makes the charts "orders per day" and "units by product" from the orders that the page shows. Neither counts cancelled
 * and rejected orders. The units leave out large orders, whose summaries have no lines. A day that may continue on another
 * page is left out, since its count would be wrong.
 * @param orders newest first, as the page has them
 */
export function statistics(orders: readonly Counted[], { status, hasNewer, hasOlder }: PageRange): readonly Chart[] {
  const counted = orders.filter(({ status }) => isActive(status))
  if (counted.length === 0) return []
  const [first, last] = [orders[0], orders.at(-1)].map((order) => order && dayOf(order))
  const isWhole = (day: string) => !(hasNewer && day === first) && !(hasOlder && day === last)
  const days = new Map<string, number>()
  const products = new Map<string, { name: string; unit: string; amount: Decimal }>()
  for (const order of counted) {
    const day = dayOf(order)
    if (isWhole(day)) days.set(day, (days.get(day) ?? 0) + 1)
    for (const { productId, name, unit, quantity } of order.lines ?? []) {
      // A product's unit may have changed between two orders.
      const key = `${productId} ${unit}`
      const known = products.get(key) ?? { name, unit, amount: zero }
      products.set(key, { ...known, amount: add(known.amount, quantity) })
    }
  }
  const from = `Counts the orders on this page${status === undefined ? ', without cancelled and rejected ones' : ` (${status} only)`}`
  const whole = hasNewer || hasOlder ? '. Days that continue on another page are left out' : ''
  const large = counted.every(({ lines }) => lines) ? '' : `. Orders of more than ${mostSummarised} lines are left out`
  const byDay = [...days].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, maxBars)
  const byProduct = [...products.values()].sort((a, b) => compare(b.amount, a.amount)).slice(0, maxBars)
  const perDay = chart(
    { id: 'per-day', title: 'Orders per day', about: `${from}, by day in UTC${whole}.`, of: 'Day', measure: 'Orders' },
    byDay.map(([day, count]) => ({ name: date(day), amount: String(count) as Decimal, value: String(count) }))
  )
  const perProduct = chart(
    {
      id: 'per-product',
      title: 'Units by product',
      about: `${from}: the ${maxBars} largest, each in its own unit${large}.`,
      of: 'Product',
      measure: 'Units'
    },
    byProduct.map(({ name, unit, amount }) => ({ name, amount, value: quantity(amount, unit) }))
  )
  return [...(byDay.length === 0 ? [] : [perDay]), ...(byProduct.length === 0 ? [] : [perProduct])]
}
