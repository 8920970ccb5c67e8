import { add, type Decimal, round, subtract, zero } from './money.ts'

/** The total of a product's next line, from its exact amount. */
export type LineTotals = (productId: string, amount: Decimal) => Decimal

/**
 * Rounds the lines of each product together: a line's total is the growth of the rounded sum of its product's lines. A
 * quantity costs the same in however many lines it is ordered.
 * @param digits fraction digits of the currency's minor unit
 */
export function makeLineTotals(digits: number): LineTotals {
  const sums = new Map<string, Decimal>()
  return (productId, amount) => {
    const before = sums.get(productId) ?? zero
    const after = add(before, amount)
    sums.set(productId, after)
    return subtract(round(after, digits), round(before, digits))
  }
}

/** The total of an order with these lines. */
export function totalOf(lines: readonly { readonly lineTotal: Decimal }[], digits: number): Decimal {
  return lines.reduce((sum, { lineTotal }) => add(sum, lineTotal), round(zero, digits))
}
