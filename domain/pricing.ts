/**
 * Prices the lines of an order. A changed order keeps its prices up to the quantities that it had at each price; the rest is
 * sold on today's terms.
 */

import { add, compare, type Decimal, plain, subtract, zero } from './money.ts'
import type { OrderItem } from './order.ts'

/** The name, unit and price of a product. */
export interface Terms {
  readonly name: string
  readonly unit: string
  readonly unitPrice: Decimal
}

/** A line to price. */
export interface WantedLine {
  readonly productId: string
  readonly quantity: Decimal
  readonly unit: string | undefined
  /** The price that the buyer expects. */
  readonly unitPrice: Decimal | undefined
  readonly today: Terms
}

/** A part of a line at one price. */
export interface Piece extends Terms {
  readonly quantity: Decimal
}

export interface PricedLine {
  /** One piece for each price of the line. */
  readonly pieces: readonly Piece[]
  /** Whether the previous order has the same line. */
  readonly isUnchanged: boolean
}

/** A line of the previous order, and how much of it no new line has claimed yet. */
interface Portion {
  readonly item: OrderItem
  left: Decimal
}

/** The portions to look for. An undefined property matches anything. */
interface Sought {
  readonly productId: string
  readonly quantity?: Decimal | undefined
  readonly unitPrice?: Decimal | undefined
  readonly unit?: string | undefined
}

interface Queue {
  readonly portions: Portion[]
  /** The portions before this position are used up. */
  at: number
}

/** The lines of an order in the order in which their prices are claimed. Shipped lines cannot go, so they come first. */
export function inClaimOrder(items: readonly OrderItem[]): readonly OrderItem[] {
  return items.toSorted((a, b) => Number(b.shippedQuantity !== undefined) - Number(a.shippedQuantity !== undefined))
}

/** The portions of the previous order, in queues by what is sought, so that no search visits a portion twice. */
class KeptPrices {
  readonly #portions: readonly Portion[]
  /** By the properties that were sought, then by their values. */
  readonly #queues = new Map<string, Map<string, Queue>>()

  constructor(items: readonly OrderItem[]) {
    this.#portions = inClaimOrder(items).map((item) => ({ item, left: item.quantity }))
  }

  /** The first matching portion that has something left. */
  next(sought: Sought): Portion | undefined {
    const queue = this.#queuesFor(sought).get(keyOf(sought))
    while (queue && queue.at < queue.portions.length) {
      const portion = queue.portions[queue.at]
      if (portion && compare(portion.left, zero) > 0) return portion
      queue.at++
    }
    return undefined
  }

  #queuesFor({ quantity, unitPrice, unit }: Sought): Map<string, Queue> {
    const name = [quantity, unitPrice, unit].map((value) => value !== undefined).join()
    const known = this.#queues.get(name)
    if (known) return known
    const queues = new Map<string, Queue>()
    for (const portion of this.#portions) {
      const { item } = portion
      const key = keyOf({
        productId: item.productId,
        quantity: quantity && item.quantity,
        unitPrice: unitPrice && item.unitPrice,
        unit: unit && item.unit
      })
      const queue = queues.get(key)
      if (queue) queue.portions.push(portion)
      else queues.set(key, { portions: [portion], at: 0 })
    }
    this.#queues.set(name, queues)
    return queues
  }
}

function keyOf({ productId, quantity, unitPrice, unit }: Sought): string {
  return [productId, quantity && plain(quantity), unitPrice && plain(unitPrice), unit].join(' ')
}

class OpenLine {
  readonly pieces: Piece[] = []
  /** The positions of the pieces, by their unit and price: an order can have one product at thousands of prices. */
  readonly #positions = new Map<string, number>()
  isUnchanged = false
  left: Decimal
  readonly wanted: WantedLine

  constructor(wanted: WantedLine) {
    this.wanted = wanted
    this.left = wanted.quantity
  }

  get isOpen(): boolean {
    return compare(this.left, zero) > 0
  }

  /** Claims portions of one unit until the line is covered, or none is left. */
  claim(kept: KeptPrices, by: Pick<Sought, 'quantity' | 'unitPrice'>): void {
    while (this.isOpen) {
      const unit = this.wanted.unit ?? this.pieces[0]?.unit
      const portion = kept.next({ productId: this.wanted.productId, unit, ...by })
      if (!portion) return
      const quantity = compare(portion.left, this.left) < 0 ? portion.left : this.left
      portion.left = subtract(portion.left, quantity)
      this.add(portion.item, quantity)
    }
  }

  add({ name, unit, unitPrice }: Terms, quantity: Decimal): void {
    this.left = subtract(this.left, quantity)
    const key = `${unit} ${plain(unitPrice)}`
    const position = this.#positions.get(key) ?? this.pieces.length
    this.#positions.set(key, position)
    const same = this.pieces[position]
    this.pieces[position] = same
      ? { ...same, quantity: plain(add(same.quantity, quantity)) }
      : { name, unit, unitPrice, quantity: plain(quantity) }
  }

  priced(): PricedLine {
    const { pieces, isUnchanged } = this
    const [only] = pieces
    // A quantity that is not divided stays as it was written.
    return { pieces: pieces.length === 1 && only ? [{ ...only, quantity: this.wanted.quantity }] : pieces, isUnchanged }
  }
}

/**
 * Unchanged lines keep their prices first, so that an order that is sent back unchanged stays as it is. Then lines that name
 * a price claim what the order had at that price. Then the other lines claim what is left, in their order, and last the lines
 * that name a price, at any price. The rest of each line is sold on today's terms.
 * @param previous the lines of the order before the change
 */
export function priceLines(wanted: readonly WantedLine[], previous: readonly OrderItem[]): readonly PricedLine[] {
  const lines = wanted.map((line) => new OpenLine(line))
  if (previous.length > 0) {
    const kept = new KeptPrices(previous)
    for (const line of lines) {
      const { quantity, unitPrice } = line.wanted
      line.claim(kept, { quantity, unitPrice })
      line.isUnchanged = !line.isOpen
    }
    const [naming, others] = [lines.filter(namesPrice), lines.filter((line) => !namesPrice(line))]
    for (const line of naming) line.claim(kept, { unitPrice: line.wanted.unitPrice })
    for (const line of [...others, ...naming]) line.claim(kept, {})
  }
  for (const line of lines) if (line.isOpen) line.add(line.wanted.today, line.left)
  return lines.map((line) => line.priced())
}

function namesPrice({ wanted }: OpenLine): boolean {
  return wanted.unitPrice !== undefined
}
