/** Changes of single lines of an order, which buyers' systems name by their own numbers. */

import { partyAfter } from './addresses.ts'
import { defined } from './defined.ts'
import { type Fault, mostFaults } from './errors.ts'
import { acceptedItems } from './line-answers.ts'
import { type LineDestination, type Moved, type NamedDestination, settleDestination, withoutOldDestination } from './line-destinations.ts'
import { add } from './money.ts'
import {
  continuesLine,
  detailsOf,
  type Extension,
  type LineDetails,
  mostTexts,
  type Order,
  type OrderHeader,
  type OrderItem,
  type PurchaseOrder,
  type PurchaseOrderItem
} from './order.ts'

/**
 * The most characters that the notes and extensions of a changed order have together. Each change may add as much as a document can hold,
 * so without this limit an order could become larger than any document, and then nobody could read it.
 */
export const mostTextCharacters = 2 * 1024 * 1024

/** How one line changes. `lineId` is the buyer's number of the line, or, where the order has none, its position. */
export interface LineChange {
  readonly kind: 'added' | 'deleted' | 'changed' | 'untouched'
  readonly lineId?: string
  readonly destination?: LineDestination
}

export interface ChangedLines {
  /** The whole order with its changes. */
  readonly order: PurchaseOrder
  /** For each item of that order, its position in the document (from 1). Undefined where the document does not have it. */
  readonly positions: readonly (number | undefined)[]
  /** The changes that cannot be made, at most `mostFaults`. The places are those of the document. */
  readonly faults: readonly Fault[]
}

interface Line {
  readonly item: PurchaseOrderItem
  readonly position: number | undefined
  /** The extensions that the change names. */
  readonly changed?: readonly Extension[]
  readonly destination?: NamedDestination
}

/**
 * The content of an order after the changes of a document.
 * @param document has an item for each change, in the same order, and the parts of the header that it replaces
 */
export function changeLines(before: Order, document: PurchaseOrder, changes: readonly LineChange[]): ChangedLines {
  const lines = linesOf(before)
  const faults: Fault[] = []
  for (const [i, change] of changes.entries()) {
    const item = document.items[i]
    if (!item) continue
    const fault = applyChange(lines, item, change, i + 1)
    if (fault) faults.push(fault)
  }
  const kept = lines.all
  if (kept.length === 0) {
    faults.push({
      code: 'no-line-left',
      detail: 'The change would leave the order without lines. To cancel the order, send a cancellation.'
    })
  }
  const settled = settleDestination(before, document, kept)
  const order = {
    ...headerAfter(before, settled.document, settled.moved),
    items: kept.map((line) => itemAfter(line, settled.moved)),
    hasDocument: true as const
  }
  const tooMuch = excessiveText(before, order)
  const listed = [...faults, ...settled.faults, ...(tooMuch ? [tooMuch] : [])].slice(0, mostFaults)
  return { order, positions: kept.map(({ position }) => position), faults: listed }
}

/** Carries out one change. @returns the fault of a change that the order's lines do not allow */
function applyChange(
  lines: Lines,
  item: PurchaseOrderItem,
  { kind, lineId = '', destination }: LineChange,
  position: number
): Fault | undefined {
  const [slot, other] = lines.named(lineId)
  const line = slot?.line
  const at = ['item', position]
  const named = destination ? { destination: { ...destination, position } } : {}
  const changed = item.extensions ?? []
  if (kind === 'added') {
    if (line) return { code: 'repeated-line-id', at, detail: `The order has a line ${lineId} already. Give the added line another number.` }
    if (item.quoted?.isUnnamed) return { code: 'free-text-line', at, detail: 'The added line names no product of this shop.' }
    if (item.quoted?.isUncounted) return { code: 'missing-value', at, detail: 'The added line has no quantity.' }
    lines.add(lineId, { item, position, changed, ...named })
    return undefined
  }
  if (!line)
    return { code: 'line-unknown', at, detail: `The order has no line ${lineId}. Name the line as the order does, or mark it as added.` }
  if (other) {
    const detail = `The order has more than one line ${lineId}. Send the whole order anew, without saying how each line changes.`
    return { code: 'repeated-line-id', at, detail }
  }
  switch (kind) {
    case 'deleted':
      slot.line = undefined
      break
    case 'changed':
      slot.line = { item: changedItem(line.item, item), position, changed, ...named }
      break
    case 'untouched':
      slot.line = { ...line, ...named }
  }
  return undefined
}

type Texts = Pick<LineDetails, 'notes' | 'extensions'>

/** Texts may get shorter, also where they are too long already. */
function excessiveText(before: Order, after: PurchaseOrder): Fault | undefined {
  const count = textCharacters(after)
  if (count <= mostTextCharacters || count <= textCharacters(before)) return undefined
  const detail = `The notes and extensions of the order would have ${count} characters. At most ${mostTextCharacters} are allowed. Shorten them, or place another order.`
  return { code: 'too-much-text', detail }
}

function textCharacters(order: Texts & { readonly items: readonly Texts[] }): number {
  let count = 0
  for (const { notes, extensions = [] } of [order, ...order.items]) {
    for (const note of notes) count += note.length
    for (const { name, value } of extensions) count += name.length + value.length
  }
  return count
}

/** The item of a line, without a destination that the order has given up. */
function itemAfter({ item, changed = [] }: Line, moved: Moved): PurchaseOrderItem {
  const { extensions, ...others } = item
  const left = joined(withoutOldDestination(extensions ?? [], moved), changed)
  return left.length > 0 ? { ...others, extensions: left } : others
}

/** A changed line. What the document leaves out stays as it was. */
function changedItem(before: PurchaseOrderItem, { quoted, ...item }: PurchaseOrderItem): PurchaseOrderItem {
  const extensions = joined(before.extensions ?? [], item.extensions ?? [])
  const details = {
    ...detailsOf(before),
    ...detailsOf(item),
    notes: item.notes.length > 0 ? item.notes : before.notes,
    ...(extensions.length > 0 ? { extensions } : {})
  }
  const { isUnnamed, isUncounted, ...terms } = quoted ?? { alsoNamed: [], units: [] }
  return {
    ...details,
    product: isUnnamed ? before.product : item.product,
    quantity: isUncounted ? before.quantity : item.quantity,
    quoted: terms
  }
}

/** The place of a line in an order. It is empty after the line was deleted. */
interface Slot {
  line: Line | undefined
}

/** The lines of an order, in their order. Several can have one number, in cXML and in the shop's own vocabulary. */
class Lines {
  readonly #lines: Slot[] = []
  readonly #named = new Map<string, Slot[]>()

  get all(): readonly Line[] {
    return this.#lines.flatMap(({ line }) => line ?? [])
  }

  /** The first two lines with a number: thousands can have it, and a change only needs to know whether there are several. */
  named(id: string): readonly Slot[] {
    const found: Slot[] = []
    for (const slot of this.#named.get(id) ?? []) {
      if (slot.line && found.push(slot) === 2) break
    }
    return found
  }

  add(id: string, line: Line): Slot {
    const slot = { line }
    this.#lines.push(slot)
    const same = this.#named.get(id)
    if (same) same.push(slot)
    else this.#named.set(id, [slot])
    return slot
  }
}

/** The lines of an order as they were sent. A line that has two prices is two items of the order: they are joined again. */
function linesOf({ items }: Order): Lines {
  const lines = new Lines()
  let first: OrderItem | undefined
  let last: Slot | undefined
  for (const item of acceptedItems(items)) {
    if (first && last?.line && isPartOf(item, first)) {
      const whole = last.line.item
      last.line = { position: undefined, item: { ...whole, quantity: add(whole.quantity, item.quantity) } }
      continue
    }
    const { productId, quantity, unit } = item
    first = item
    last = lines.add(item.lineId ?? String(item.line), {
      position: undefined,
      item: { product: { productId }, quantity, unit, ...detailsOf(item) }
    })
  }
  return lines
}

/**
 * Those from before with other names, and the extensions of a change. Where they are too many, the oldest have no room: they are in the document
 * that placed the order, which is kept. A change is kept nowhere else.
 */
function joined(before: readonly Extension[], changed: readonly Extension[]): readonly Extension[] {
  const names = new Set(changed.map(({ name }) => name))
  return [...before.filter(({ name }) => !names.has(name)), ...changed].slice(-mostTexts)
}

/** Whether an item is a later part of a line that has two prices. A line without a number cannot be told from the next one. */
function isPartOf(item: OrderItem, first: OrderItem): boolean {
  return first.lineId !== undefined && item.unit === first.unit && continuesLine(first, item)
}

/** The number and the date of an order stay. The document replaces the other parts of the header that it has. */
function headerAfter(before: Order, document: PurchaseOrder, moved: Moved): OrderHeader {
  const { orderNumber, issueDate, shipTo, ...others } = before
  // The recipient and the contact of before may be unknown at another address.
  const left = shipTo && !moved.address ? { ...others, shipTo } : others
  return {
    ...headerOf(left),
    ...headerOf(document),
    ...partiesAfter(left, document),
    ...defined({ orderNumber, issueDate }),
    notes: document.notes.length > 0 ? document.notes : before.notes,
    extensions: joined(withoutOldDestination(before.extensions, moved), document.extensions)
  }
}

function partiesAfter(before: OrderHeader, document: PurchaseOrder): Partial<OrderHeader> {
  const { buyer, shipTo, billTo } = document
  return {
    ...(buyer && { buyer: partyAfter(before.buyer, buyer) }),
    ...(shipTo && { shipTo: partyAfter(before.shipTo, shipTo) }),
    ...(billTo && { billTo: partyAfter(before.billTo, billTo) })
  }
}

/** The parts of a header that a document replaces as a whole, but for the parties. */
function headerOf({ issueDate, currency, buyer, shipTo, billTo, requestedDeliveryDate }: OrderHeader): Partial<OrderHeader> {
  const header = { issueDate, currency, buyer, shipTo, billTo, requestedDeliveryDate }
  header satisfies Record<Exclude<keyof OrderHeader, 'orderNumber' | 'notes' | 'extensions'>, unknown>
  return Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined))
}
