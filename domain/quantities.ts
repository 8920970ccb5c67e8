/** The quantities in which a product can be ordered. */

import { add, compare, type Decimal, decimal, isMultiple, multipleBelow } from './money.ts'
import type { Product } from './product.ts'
import { isCounted } from './units.ts'

/** An order has the minimum of a product or more, in multiples of the step. */
export interface QuantityRule {
  readonly minimum: Decimal
  readonly step: Decimal
}

const one = decimal('1')
const thousandth = decimal('0.001')

/** The minimum and the step of a unit, for a product without a rule of its own. Things that are counted cannot be divided. */
function defaultStep(unit: string): Decimal {
  return isCounted(unit) ? one : thousandth
}

/**
 * Whether a part of an ordered quantity can be shipped: a multiple of the unit's default step. An ordered quantity that is itself no
 * multiple of it was allowed by its product's own rule, and may be divided in any way.
 */
export function isShippablePart(part: Decimal, { quantity, unit }: { readonly quantity: Decimal; readonly unit: string }): boolean {
  const step = defaultStep(unit)
  return isMultiple(part, step) || !isMultiple(quantity, step)
}

/** A product's rule. Where the product has none of its own, its unit decides. */
export function quantityRule({
  unit,
  minimumQuantity,
  quantityStep
}: Pick<Product, 'unit' | 'minimumQuantity' | 'quantityStep'>): QuantityRule {
  const least = defaultStep(unit)
  return { minimum: minimumQuantity ?? least, step: quantityStep ?? least }
}

export function isOrAre(quantity: Decimal): 'is' | 'are' {
  return compare(quantity, one) > 0 ? 'are' : 'is'
}

/** The least quantity that meets a rule. */
export function leastQuantity({ minimum, step }: QuantityRule): Decimal {
  return isMultiple(minimum, step) ? minimum : add(multipleBelow(minimum, step), step)
}

/** The quantities nearest to one that is no multiple of the step. */
export function nearestQuantities(quantity: Decimal, rule: QuantityRule): readonly Decimal[] {
  const least = leastQuantity(rule)
  if (compare(quantity, least) < 0) return [least]
  const below = multipleBelow(quantity, rule.step)
  return [below, add(below, rule.step)]
}
