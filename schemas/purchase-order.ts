import { defined } from '../domain/defined.ts'
import { decimal } from '../domain/money.ts'
import type { Address, Extension, LineDetails, OrderHeader, Party, PurchaseOrder, PurchaseOrderItem } from '../domain/order.ts'
import { isGtin, wrongCheckDigit } from '../domain/product.ts'
import type { DocumentSchema, Report } from './document.ts'
import { child, childrenOf, collapse, type Element, textOf, tokenOf } from './element.ts'
import { childType, loadXsd, mostCharacters, rootType } from './vocabulary.ts'

export const orderXsd = loadXsd('purchase-order')

/** The most characters of a buyer's own number for an order. */
export const mostOrderNumberCharacters = mostCharacters(childType(rootType(orderXsd, 'purchase-order'), 'order-number'))

/** The document that places an order. */
export const purchaseOrder: DocumentSchema<PurchaseOrder> = {
  xsd: orderXsd,
  name: 'purchase-order',
  roots: ['purchase-order'],
  hasOrderItems: true,
  forms: true,
  takesOthers: true,
  read: readPurchaseOrder
}

/** The document that replaces an order: the edited `order` from a GET, or a new `purchase-order`. */
export const changedOrder: DocumentSchema<PurchaseOrder> = {
  xsd: orderXsd,
  name: 'changed-order',
  roots: ['order', 'purchase-order'],
  identity: 'id',
  hasOrderItems: true,
  read: readPurchaseOrder
}

function readPurchaseOrder(root: Element, report: Report): PurchaseOrder {
  return { ...readHeader(root), items: readItems(childrenOf(root, 'item'), report) }
}

/** An item that was rejected is in the order that GET answers. It does not count when the order is sent back. */
function readItems(items: readonly Element[], report: Report): readonly PurchaseOrderItem[] {
  const counted = [...items.entries()].filter(([, item]) => !(tokenOf(item, 'line-status') === 'rejected' && isNone(item)))
  if (counted.length === 0 && items.length > 0) {
    report(['item', 1], 'Every item was rejected, and none of them counts. Send an item with a quantity above 0, or cancel the order.')
  }
  return counted.map(([i, item], place) => {
    const read = readItem(item, i + 1, report)
    return i === place ? read : { ...read, position: i + 1 }
  })
}

function isNone(item: Element): boolean {
  return /^0(\.0+)?$/.test(tokenOf(item, 'quantity') ?? '')
}

function readHeader(root: Element): OrderHeader {
  return {
    ...defined({
      orderNumber: textOf(root, 'order-number'),
      issueDate: tokenOf(root, 'issue-date'),
      currency: tokenOf(root, 'currency'),
      buyer: readParty(child(root, 'buyer')),
      shipTo: readParty(child(root, 'ship-to')),
      billTo: readParty(child(root, 'bill-to')),
      requestedDeliveryDate: tokenOf(root, 'requested-delivery-date')
    }),
    notes: childrenOf(root, 'note').map((note) => note.text ?? ''),
    extensions: readExtensions(root)
  } as OrderHeader
}

function readExtensions(parent: Element): readonly Extension[] {
  return childrenOf(parent, 'extension').map(({ attributes, text = '' }) => ({ name: attributes?.['name'] ?? '', value: text }))
}

function readParty(party: Element | undefined): Party | undefined {
  if (!party) return undefined
  return defined({
    name: textOf(party, 'name'),
    contact: textOf(party, 'contact'),
    email: tokenOf(party, 'email'),
    phone: textOf(party, 'phone'),
    taxId: textOf(party, 'tax-id'),
    address: readAddress(child(party, 'address'))
  }) as Party
}

function readAddress(address: Element | undefined): Address | undefined {
  if (!address) return undefined
  return defined({
    street: textOf(address, 'street'),
    additionalStreet: textOf(address, 'additional-street'),
    city: textOf(address, 'city'),
    postalCode: textOf(address, 'postal-code'),
    region: textOf(address, 'region'),
    country: tokenOf(address, 'country')
  }) as Address
}

function readItem(item: Element, position: number, report: Report): PurchaseOrderItem {
  const productId = tokenOf(item, 'product-id')
  const gtin = tokenOf(item, 'gtin') ?? ''
  if (productId === undefined && !isGtin(gtin)) {
    report(['item', position, 'gtin'], wrongCheckDigit(gtin), 'wrong-check-digit')
  }
  const quantity = child(item, 'quantity')
  if (isNone(item))
    report(['item', position, 'quantity'], 'The quantity must be above 0. It can be 0 only where the line-status is rejected.')
  const unit = quantity?.attributes?.['unit']
  const unitPrice = tokenOf(item, 'unit-price')
  return defined({
    product: productId === undefined ? { gtin } : { productId },
    quantity: decimal(quantity?.text ?? ''),
    unit: unit === undefined ? undefined : collapse(unit),
    unitPrice: unitPrice === undefined ? undefined : decimal(unitPrice),
    ...readDetails(item)
  }) as PurchaseOrderItem
}

function readDetails(item: Element): { [K in keyof LineDetails]: LineDetails[K] | undefined } {
  const extensions = readExtensions(item)
  return {
    lineId: textOf(item, 'line-id'),
    requestedDeliveryDate: tokenOf(item, 'requested-delivery-date'),
    notes: childrenOf(item, 'note').map((note) => note.text ?? ''),
    extensions: extensions.length > 0 ? extensions : undefined
  }
}
