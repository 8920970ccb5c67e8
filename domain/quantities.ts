/** The quantities in which a product can be ordered. */

import { add, compare, type Decimal, decimal, isMultiple, multipleBelow } from './money.ts'
import type { Product } from './product.ts'

/** An order has the minimum of a product or more, in multiples of the step. */
export interface QuantityRule {
  readonly minimum: Decimal
  readonly step: Decimal
}

const words = (text: string) => text.trim().split(/\s+/)

/**
 * Units of UN/ECE Recommendation 20 that count things: pieces, pairs and sets of them, numbers of pieces (a dozen, a
 * hundred), and other things that nobody divides.
 */
const counted = words(`
  C62 EA H87 NAR NPT NCL HEA IE PR NPR TPR SET TST KT AS AY LO JOB
  DZN DPC DPR DRL DZP GRO GGR CEN HC MIL T3 CNP CLF NMP TP NRL
  AV U2 SYR STC STK LEF SW LR ZP PTN U1 E27
`)

/**
 * Packages of Recommendation 21 by their bare codes, as shops use them. Codes that are often meant for a measure are
 * not here, such as KG (keg), MT (mat), NT (net) and TN (tin); with an X before it each package is counted.
 */
const packages = words(`
  AM BA BC BE BG BI BJ BK BL BN BO BR BX CA CF CG CH CR CS CT CX CY DJ DR EN FC IZ JC JG JR JT JY
  PA PC PF PG PH PJ PK PL PN PO PU PX PY PZ RG RL RO SA SC SH SK SL ST SU SX TB TC TU VI WB
`)

/** Bulk goods are measured, also where Recommendation 21 has a code for them as a kind of package. */
const bulk: ReadonlySet<string> = new Set(words('XVG XVL XVO XVQ XVR XVS XVY'))

const countedUnits: ReadonlySet<string> = new Set([...counted, ...packages])

const one = decimal('1')
const thousandth = decimal('0.001')

/** The minimum and the step of a unit, for a product without a rule of its own. Things that are counted cannot be divided. */
function defaultStep(unit: string): Decimal {
  const isCounted = countedUnits.has(unit) || (/^X[A-Z0-9]{2}$/.test(unit) && !bulk.has(unit))
  return isCounted ? one : thousandth
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
