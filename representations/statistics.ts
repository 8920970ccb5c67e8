import { add, compare, type Decimal, toUnits, zero } from '../domain/money.ts'
import { holdsStock, type Order } from '../domain/order.ts'
import { date, quantity } from './views/format.ts'

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

const dayOf = ({ placedAt }: Order) => new Date(placedAt).toISOString().slice(0, 10)

/** Which orders a page has. */
export interface PageRange {
  /** The status that all of them have, where the page is filtered. */
  readonly status?: string | undefined
  /** Whether there are pages before and after this one, on which its first and its last day may go on. */
  readonly hasNewer: boolean
  readonly hasOlder: boolean
}

/**
 * Orders a day and units by product, from the orders of one page: what the seller looks at is what is counted. Cancelled
 * and rejected orders count in neither. A day that may go on on another page is left out: its number would be false.
 * @param orders newest first, as the page has them
 */
export function statistics(orders: readonly Order[], { status, hasNewer, hasOlder }: PageRange): readonly Chart[] {
  const counted = orders.filter(({ status }) => holdsStock(status))
  if (counted.length === 0) return []
  const [first, last] = [orders[0], orders.at(-1)].map((order) => order && dayOf(order))
  const isWhole = (day: string) => !(hasNewer && day === first) && !(hasOlder && day === last)
  const days = new Map<string, number>()
  const products = new Map<string, { name: string; unit: string; amount: Decimal }>()
  for (const order of counted) {
    const day = dayOf(order)
    if (isWhole(day)) days.set(day, (days.get(day) ?? 0) + 1)
    for (const { productId, name, unit, quantity } of order.items) {
      // A product may have got another unit since.
      const key = `${productId} ${unit}`
      const known = products.get(key) ?? { name, unit, amount: zero }
      products.set(key, { ...known, amount: add(known.amount, quantity) })
    }
  }
  const from = `Counts the orders on this page${status === undefined ? ', without cancelled and rejected ones' : ` (${status} only)`}`
  const whole = hasNewer || hasOlder ? '. A day that goes on on another page is left out' : ''
  const byDay = [...days].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, mostBars)
  const byProduct = [...products.values()].sort((a, b) => compare(b.amount, a.amount)).slice(0, mostBars)
  const perDay = chart(
    { id: 'per-day', title: 'Orders a day', about: `${from}, by the day in UTC${whole}.`, of: 'Day', measure: 'Orders' },
    byDay.map(([day, count]) => ({ name: date(day), amount: String(count) as Decimal, value: String(count) }))
  )
  const perProduct = chart(
    {
      id: 'per-product',
      title: 'Units by product',
      about: `${from}: the ${mostBars} largest, each in its own unit.`,
      of: 'Product',
      measure: 'Units'
    },
    byProduct.map(({ name, unit, amount }) => ({ name, amount, value: quantity(amount, unit) }))
  )
  return byDay.length === 0 ? [perProduct] : [perDay, perProduct]
}
