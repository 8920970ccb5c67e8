import type { DocumentPlace } from '../domain/buyer-changes.ts'
import { existsInCalendar } from '../domain/calendar.ts'
import { mostFaults } from '../domain/errors.ts'
import type { FaultCode } from '../domain/fault-codes.ts'
import { compare, type Decimal, zero } from '../domain/money.ts'
import { mostTexts, type ProductReference, type QuotedPrice, type QuotedTerms } from '../domain/order.ts'
import { gtin14, isGtin, isProductId } from '../domain/product.ts'
import type { Element } from '../schemas/element.ts'
import { matchesPatterns } from '../schemas/patterns.ts'
import { mostOrderNumberCharacters, orderXsd } from '../schemas/purchase-order.ts'
import { shorten } from '../schemas/shorten.ts'
import { childType, type ElementType, rootType, type SimpleType } from '../schemas/vocabulary.ts'
import type { AddressDraft, BuyerFault, ItemDraft, OrderDraft, PartyDraft, Sourced } from './buyer-document.ts'
import { dateIn } from './dates.ts'
import { canonical, withDigitsOf } from './decimals.ts'
import { anyUnitOf } from './units.ts'
import { locationOf, type XmlElement } from './xml-element.ts'

export interface BuiltOrder {
  /** The `purchase-order` of the draft. `locate` knows the origins of its elements. */
  readonly root: Element
  /** For each item. */
  readonly quoted: readonly QuotedTerms[]
  /** For each item, the origins of the parts that are no elements of this purchase order, by their places in the item. */
  readonly origins: readonly ReadonlyMap<string, string>[]
  readonly faults: readonly BuyerFault[]
  /** Finds the place of an origin in the sender's document. It takes longer than to read a value, so only faults are located. */
  locate(origin: string): DocumentPlace | undefined
}

interface BuildOptions {
  /** Unit codes that mean one piece. */
  readonly pieces: readonly string[]
  /** The items are changes of an order's lines. They may leave out the product and the quantity, which the lines have. */
  readonly isChange?: boolean
}

/** Senders write these instead of a seller's id if they have none. */
const placeholders = new Set(['non catalog item', 'not available', 'non item', 'n/a', 'na', 'none'])

const orderType = rootType(orderXsd, 'purchase-order')
const itemType = childType(orderType, 'item')
const quantityType = childType(itemType, 'quantity')
const partyType = childType(orderType, 'buyer')
const addressType = childType(partyType, 'address')
const extensionType = childType(orderType, 'extension')
const maxLengthOf = (type: SimpleType | undefined) => type?.maxLength ?? Number.POSITIVE_INFINITY
const maxExtensionName = maxLengthOf(extensionType.attributes[0]?.type)

/** Placeholders for a line without a usable product or quantity, because the schema of orders requires both. */
const noProduct = '-'
const anyQuantity = '1'

/** The length of a text as XSD counts it, where a character outside of the Basic Multilingual Plane is one and not two. */
const charactersIn = (text: string) => [...text].length

/** Whether the shop's schema can hold a text. A text that it cannot hold is left out: the stored document still has it. */
function fits(text: string, { text: type }: ElementType): boolean {
  if (charactersIn(text) > maxLengthOf(type)) return false
  if (type && !matchesPatterns(text, type.patterns)) return false
  return !type?.isPositive || compare(text as Decimal, zero) > 0
}

/** Makes the shop's own purchase order of a buyer's document, which is then validated and read like any other. */
export function buildPurchaseOrder(draft: OrderDraft, options: BuildOptions): BuiltOrder {
  return new Builder(options).build(draft)
}

class Builder {
  readonly #options: BuildOptions
  readonly #faults: BuyerFault[] = []
  /** The sources of the elements: each origin is the position of its source in this list. */
  readonly #sources: Pick<Sourced, 'from' | 'attribute'>[] = []

  constructor(options: BuildOptions) {
    this.#options = options
  }

  build(draft: OrderDraft): BuiltOrder {
    const quoted: QuotedTerms[] = []
    const items = draft.items.map((item) => this.#item(item, quoted))
    const root = this.#parent('purchase-order', draft.from, [
      this.#leaf('order-number', this.#orderNumber(draft.orderNumber)),
      this.#date('issue-date', draft.issueDate),
      this.#leaf('currency', this.#currency(draft.currency)),
      this.#party('buyer', draft.buyer),
      this.#party('ship-to', draft.shipTo),
      this.#party('bill-to', draft.billTo),
      this.#date('requested-delivery-date', draft.requestedDeliveryDate),
      ...this.#texts(draft),
      ...items
    ])
    const origins = draft.items.map((item) => this.#originsOf(item))
    const locate = (origin: string) => {
      const source = this.#sources[Number(origin)]
      return source && locationOf(source.from, source.attribute)
    }
    return { root, quoted, origins, faults: this.#faults, locate }
  }

  #originOf(source: Pick<Sourced, 'from' | 'attribute'>): string {
    return String(this.#sources.push(source) - 1)
  }

  #originsOf({ price, unit, destination: { address, recipient } = {} }: ItemDraft): ReadonlyMap<string, string> {
    const sources = { 'unit-price': price?.amount, 'quantity/unit': unit, 'ship-to/address': address, 'ship-to/name': recipient }
    return new Map(Object.entries(sources).flatMap(([place, source]) => (source ? [[place, this.#originOf(source)]] : [])))
  }

  #orderNumber(number: Sourced | undefined): Sourced | undefined {
    if (!number) return undefined
    const length = charactersIn(number.text)
    if (length <= mostOrderNumberCharacters) return number
    this.#fault('invalid-value', number, `The number of the order has ${length} characters; it can have ${mostOrderNumberCharacters}.`)
    return undefined
  }

  #currency(currency: Sourced | undefined): Sourced | undefined {
    if (!currency || fits(currency.text, childType(orderType, 'currency'))) return currency
    const detail = `The currency is ${JSON.stringify(shorten(currency.text))}; it must be an ISO 4217 code of three capital letters, such as EUR.`
    this.#fault('invalid-value', currency, detail)
    return undefined
  }

  #parent(name: string, from: XmlElement, children: readonly (Element | undefined)[]): Element {
    return { name, origin: this.#originOf({ from }), children: children.filter((child) => child !== undefined) }
  }

  /** @param parent the type that has the element. If it is given, a value that does not fit is left out */
  #leaf(name: string, value: Sourced | undefined, parent?: ElementType): Element | undefined {
    if (!value || (parent && !fits(value.text, childType(parent, name)))) return undefined
    return { name, text: value.text, origin: this.#originOf(value) }
  }

  /** The date part of a date or of a date and time. */
  #date(name: string, value: Sourced | undefined): Element | undefined {
    const date = value && dateIn(value.text)
    if (!value || date === undefined || !existsInCalendar(date)) return undefined
    return this.#leaf(name, { ...value, text: date })
  }

  #party(name: string, party: PartyDraft | undefined): Element | undefined {
    if (!party) return undefined
    const made = this.#parent(name, party.from, [
      this.#leaf('name', party.name, partyType),
      this.#leaf('contact', party.contact, partyType),
      this.#leaf('email', party.email, partyType),
      this.#leaf('phone', party.phone, partyType),
      this.#leaf('tax-id', party.taxId, partyType),
      this.#address(party.address, party.from)
    ])
    return made.children?.length ? made : undefined
  }

  #address(address: AddressDraft | undefined, from: XmlElement): Element | undefined {
    if (!address) return undefined
    const made = this.#parent('address', from, [
      this.#leaf('street', address.street, addressType),
      this.#leaf('additional-street', address.additionalStreet, addressType),
      this.#leaf('city', address.city, addressType),
      this.#leaf('postal-code', address.postalCode, addressType),
      this.#leaf('region', address.region, addressType),
      this.#leaf('country', address.country, addressType)
    ])
    return made.children?.length ? made : undefined
  }

  #texts({ notes, extensions }: Pick<OrderDraft, 'notes' | 'extensions'>): Element[] {
    const kept = extensions.slice(0, mostTexts).filter(({ name, value }) => name !== '' && fits(value.text, extensionType))
    return [
      ...notes.slice(0, mostTexts).flatMap((note) => this.#leaf('note', note, orderType) ?? []),
      ...kept.map(({ name, value }) => ({
        name: 'extension',
        attributes: { name: shorten(name, maxExtensionName) },
        text: value.text,
        origin: this.#originOf(value)
      }))
    ]
  }

  #item(item: ItemDraft, quoted: QuotedTerms[]): Element {
    const [product, ...alsoNamed] = this.#products(item)
    const price = this.#price(item)
    const { pieces } = this.#options
    const quantity = this.#quantity(item)
    const units = item.unit ? anyUnitOf(item.unit.text, pieces) : []
    quoted.push({
      alsoNamed,
      units,
      ...(price ? { price } : {}),
      ...(product ? {} : { isUnnamed: true }),
      ...(quantity ? {} : { isUncounted: true })
    })
    const named = item.sellerId ?? item.gtin
    const [name, text] = product && 'gtin' in product ? ['gtin', product.gtin] : ['product-id', product?.productId ?? noProduct]
    return this.#parent('item', item.from, [
      this.#leaf('line-id', item.lineId, itemType),
      { name, text, origin: this.#originOf(named ?? item) },
      { name: 'quantity', text: quantity ?? anyQuantity, origin: this.#originOf(item.quantity ?? item) },
      this.#date('requested-delivery-date', item.requestedDeliveryDate),
      ...this.#texts(item)
    ])
  }

  /** The names of a line's product: the seller's id first, then its GTIN. */
  #products(item: ItemDraft): ProductReference[] {
    const { sellerId, gtin } = item
    const id = sellerId && !placeholders.has(sellerId.text.toLowerCase()) ? sellerId.text : undefined
    const read = gtin && gtinIn(gtin.text)
    const named: ProductReference[] = [
      ...(id !== undefined && isProductId(id) ? [{ productId: id }] : []),
      ...(read === undefined ? [] : [{ gtin: read }])
    ]
    if (named.length > 0 || this.#options.isChange) return named
    if (id === undefined) {
      const detail =
        'The line names no product of this shop, so it is free text. Give the id that this shop sells the product by, or its GTIN.'
      this.#fault('free-text-line', sellerId ?? item, detail, item)
    } else {
      this.#fault('unknown-product', sellerId ?? item, `There is no product ${JSON.stringify(shorten(id))}.`, item)
    }
    return []
  }

  /** The quantity of a line. If it is not usable, that is a fault, and the rest of the order is checked all the same. */
  #quantity(item: ItemDraft): string | undefined {
    const { quantity } = item
    if (!quantity) return undefined
    const number = canonical(quantity.text)
    if (number !== undefined && fits(number, quantityType)) return number
    const detail = `The quantity is ${JSON.stringify(shorten(quantity.text))}; it must be ${quantityType.text?.documentation}.`
    this.#fault('invalid-value', quantity, detail, item)
    return undefined
  }

  #price(item: ItemDraft): QuotedPrice | undefined {
    if (!item.price) return undefined
    const { amount, base, baseUnit, factor } = item.price
    if (base && baseUnit && item.unit && !factor && !this.#isSameUnit(baseUnit.text, item.unit.text)) {
      const units = `the unit ${shorten(baseUnit.text)}, but the line is ordered in ${shorten(item.unit.text)}`
      this.#fault('invalid-value', base, `The price is for ${units}. Send the price for the unit of the line.`, item)
      return undefined
    }
    const values = [this.#number(amount, 'a price', item), this.#number(base, 'a quantity', item), this.#number(factor, 'a factor', item)]
    const [price, per = '1' as Decimal, times] = values
    if (base && values[1] && compare(per, zero) === 0) {
      this.#fault('invalid-value', base, 'The quantity that the price is for must be above 0.', item)
      return undefined
    }
    if (factor && times !== undefined && compare(times, zero) === 0) {
      this.#fault('invalid-value', factor, 'The conversion factor must be above 0.', item)
      return undefined
    }
    if (price === undefined || (base && !values[1]) || (factor && !times)) return undefined
    return { amount: withDigitsOf(price, amount.text), base: per, ...(times === undefined ? {} : { factor: times }) }
  }

  #isSameUnit(one: string, other: string): boolean {
    const units = anyUnitOf(one, this.#options.pieces)
    return anyUnitOf(other, this.#options.pieces).some((unit) => units.includes(unit))
  }

  /** A number that is not negative. */
  #number(value: Sourced | undefined, what: string, item: ItemDraft): Decimal | undefined {
    if (!value) return undefined
    const number = canonical(value.text)
    if (number === undefined) {
      this.#fault('invalid-value', value, `${JSON.stringify(shorten(value.text))} is not ${what} of 0 or more, such as 9.99.`, item)
    }
    return number
  }

  #fault(code: FaultCode, at: Pick<Sourced, 'from' | 'attribute'>, detail: string, item?: ItemDraft): void {
    if (this.#faults.length >= mostFaults) return
    this.#faults.push({ code, detail, ...locationOf(at.from, at.attribute), ...(item?.lineId ? { item: item.lineId.text } : {}) })
  }
}

/** The GTIN in a text. Systems that keep it as a number lose its leading zeros. */
function gtinIn(text: string): string | undefined {
  const digits = text.replace(/[\s-]/g, '')
  return [digits, gtin14(digits)].find(isGtin)
}
