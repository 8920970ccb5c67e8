/** Changes of single lines of an order, which buyers' systems name by their own numbers. */

import type { Fault } from './errors.ts'
import { add } from './money.ts'
import { detailsOf, type Order, type OrderHeader, type OrderItem, type PurchaseOrder, type PurchaseOrderItem } from './order.ts'

/** How one line changes. `lineId` is the buyer's number of the line, or, where the order has none, its position. */
export interface LineChange {
  readonly kind: 'added' | 'deleted' | 'changed' | 'untouched'
  readonly lineId?: string
}

export interface ChangedLines {
  /** The whole order with its changes. What cannot be done is among its objections. */
  readonly order: PurchaseOrder
  /** For each item of that order, its position in the document (from 1). Undefined where the document does not have it. */
  readonly positions: readonly (number | undefined)[]
}

interface Line {
  readonly id: string
  readonly item: PurchaseOrderItem
  readonly position: number | undefined
}

/**
 * The content of an order after the changes of a document.
 * @param document its items are the lines of the changes, in their order; its header replaces what it has of the order's
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
  const kept = [...lines.values()]
  const { invalid = [], refused = [] } = document.objections ?? {}
  const order = {
    ...headerAfter(before, document),
    items: kept.map(({ item }) => item),
    objections: { invalid: [...invalid, ...faults], refused }
  }
  return { order, positions: kept.map(({ position }) => position) }
}

/** Carries out one change. @returns the fault of a change that the order's lines do not allow */
function applyChange(lines: Map<string, Line>, item: PurchaseOrderItem, { kind, lineId }: LineChange, position: number): Fault | undefined {
  const id = lineId ?? `new ${position}`
  const line = lines.get(id)
  const at = ['item', position]
  if (kind === 'added') {
    if (line) return { code: 'repeated-line-id', at, detail: `The order has a line ${id} already. Give the added line another number.` }
    if (item.quoted?.isUnnamed) return { code: 'free-text-line', at, detail: 'The added line names no product of this shop.' }
    lines.set(id, { id, item, position })
    return undefined
  }
  if (!line)
    return { code: 'line-unknown', at, detail: `The order has no line ${id}. Name the line as the order does, or mark it as added.` }
  if (kind === 'deleted') lines.delete(id)
  if (kind === 'changed') lines.set(id, { id, position, item: changedItem(line.item, item) })
  return undefined
}

/** A changed line. What the document leaves out stays as it was. */
function changedItem(before: PurchaseOrderItem, { quoted, ...item }: PurchaseOrderItem): PurchaseOrderItem {
  const details = { ...detailsOf(before), ...detailsOf(item), notes: item.notes.length > 0 ? item.notes : before.notes }
  const { isUnnamed, isUncounted, ...terms } = quoted ?? { alsoNamed: [], units: [] }
  return {
    ...details,
    product: isUnnamed ? before.product : item.product,
    quantity: isUncounted ? before.quantity : item.quantity,
    quoted: terms
  }
}

/** The lines of an order as they were sent: items that are parts of one line, because it has two prices, are put together. */
function linesOf({ items }: Order): Map<string, Line> {
  const lines = new Map<string, Line>()
  let last: { readonly id: string; readonly item: OrderItem } | undefined
  for (const item of items) {
    const known = last && isPartOf(item, last.item) ? lines.get(last.id) : undefined
    if (known) {
      lines.set(known.id, { ...known, item: { ...known.item, quantity: add(known.item.quantity, item.quantity) } })
      continue
    }
    const id = item.lineId ?? String(item.line)
    const { productId, quantity, unit } = item
    lines.set(id, { id, position: undefined, item: { product: { productId }, quantity, unit, ...detailsOf(item) } })
    last = { id, item }
  }
  return lines
}

function isPartOf(item: OrderItem, first: OrderItem): boolean {
  return item.productId === first.productId && item.lineId === undefined && first.lineId !== undefined
}

function headerAfter({ orderNumber, ...before }: Order, document: PurchaseOrder): OrderHeader {
  const { issueDate, currency, buyer, shipTo, billTo, requestedDeliveryDate } = document
  const sent = { issueDate, currency, buyer, shipTo, billTo, requestedDeliveryDate }
  const { issueDate: _i, currency: _c, ...kept } = headerOf(before)
  return {
    ...kept,
    ...Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
    ...(orderNumber === undefined ? {} : { orderNumber }),
    ...(before.issueDate === undefined ? {} : { issueDate: before.issueDate }),
    notes: document.notes.length > 0 ? document.notes : before.notes,
    extensions: document.extensions.length > 0 ? document.extensions : before.extensions
  }
}

function headerOf({ issueDate, currency, buyer, shipTo, billTo, requestedDeliveryDate }: Omit<Order, 'orderNumber'>) {
  const header = { issueDate, currency, buyer, shipTo, billTo, requestedDeliveryDate }
  return Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined)) as Partial<OrderHeader>
}
