// Computes the totals of lines by the rules of the service, with whole numbers, so that nothing is rounded twice.

const decimal = /^\s*(\d+)(?:\.(\d+))?\s*$/

/** Converts a decimal into a whole number of units of `10^-scale`; undefined when it is not one. */
export function units(text, scale) {
  const found = decimal.exec(text)
  return found && (found[2] ?? '').length <= scale ? BigInt(found[1] + (found[2] ?? '').padEnd(scale, '0')) : undefined
}

/**
 * What is wrong with a quantity, for the browser to say before it sends the form; empty if nothing is, or if only the service can tell.
 * @param rule the product's least quantity and its step, and how much of the line was shipped, if they apply to the quantity
 */
export function quantityFault(text, { least, step, shipped } = {}) {
  const [, whole, part] = /^\s*(\d+),(\d+)\s*$/.exec(text) ?? []
  // A comma may separate thousands.
  if (part) return `Write ${whole}.${part}${part.length === 3 ? ` or ${whole}${part}` : ''}.`
  const [count, lowest, one, kept] = [text, least, step, shipped].map((number) => units(number, 3))
  if (count < kept) return `Order at least ${shipped}, because that was shipped.`
  if (count === undefined || !lowest || !one) return ''
  if (count < lowest) return `Order at least ${least}.`
  const below = count - (count % one)
  return below === count ? '' : `Order ${Number(below) / 1000} or ${Number(below + one) / 1000}.`
}

/**
 * The quantities in which a product can be ordered: the least, and its step.
 * @param product as the service sends it in JSON
 * @param step the step of its unit, for a product without its own; undefined when only the service knows it
 */
export function quantityLimits({ minimumQuantity = undefined, quantityStep = undefined }, step) {
  const one = units(quantityStep ?? step ?? '', 3)
  const lowest = units(minimumQuantity ?? step ?? '', 3)
  if (!one || lowest === undefined) return {}
  const least = ((lowest + one - 1n) / one) * one
  return { least: String(Number(least) / 1000), step: quantityStep ?? step }
}

/** Rounds an amount. Quantities have 3 fraction digits and prices 4, so an amount has 7. */
function rounded(amount, digits) {
  const divisor = 10n ** BigInt(7 - digits)
  return (amount + divisor / 2n) / divisor
}

/**
 * Computes the total of each line in the currency's minor unit; undefined for an incomplete line. The quantities that an
 * order already has keep their price: unchanged lines get theirs first, then the others in order. The lines of one product
 * are rounded together.
 * @param lines each with the `id` of its product, its `count` in thousandths and its `price` in ten-thousandths
 * @param kept the order's current prices, each with its quantity, by product id
 */
export function makeSums(lines, kept, digits) {
  const portions = new Map(
    Object.entries(kept).map(([id, all]) => [
      id,
      all.map(([price, quantity]) => ({ price: units(price, 4), whole: units(quantity, 3), left: units(quantity, 3) }))
    ])
  )
  const open = lines.map(({ id, count, price }) => ({ id, price, left: count, amount: 0n }))
  const take = (line, portion) => {
    const count = portion.left < line.left ? portion.left : line.left
    portion.left -= count
    line.left -= count
    line.amount += count * portion.price
  }
  const counted = open.filter(({ left }) => left !== undefined)
  for (const line of counted) {
    const same = portions.get(line.id)?.find(({ left, whole }) => left === whole && whole === line.left)
    if (same) take(line, same)
  }
  for (const line of counted) for (const portion of portions.get(line.id) ?? []) take(line, portion)
  const exact = new Map()
  return open.map(({ id, price, left, amount }) => {
    if (left === undefined || (left > 0n && price === undefined)) return undefined
    const before = exact.get(id) ?? 0n
    const after = before + amount + left * (price ?? 0n)
    exact.set(id, after)
    return rounded(after, digits) - rounded(before, digits)
  })
}
