import { compare, type Decimal, minorUnit, plain, zero } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { isImageUri, type Product } from '../../domain/product.ts'
import { leastQuantity, quantityRule } from '../../domain/quantities.ts'
import { leftOf } from '../../domain/shipping.ts'
import { unitNameOf } from '../../domain/unit-names.ts'
import { perUnit, unitName } from './units.ts'

const locale = 'en'
const currencies = new Map<string, Intl.NumberFormat>()
const plainNumber = atFirstUse(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }))

/** Formats are made when they are first used: loading the data of a locale takes as long as many other parts of the start together. */
function atFirstUse<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Intl formats a decimal string exactly, without binary floating point (ECMA-402, NumberFormat v3). */
const exactly = (value: Decimal) => value as `${number}`

/** Formats a price. It keeps fraction digits beyond the currency's: 0.0125 does not become 0.01. */
export function money(value: Decimal, currency: string): string {
  const minor = minorUnit(currency)
  const fraction = value.includes('.') ? value.length - value.indexOf('.') - 1 : 0
  const digits = Math.max(minor, Math.min(fraction, 20))
  const key = `${currency} ${digits}`
  const format =
    currencies.get(key) ??
    new Intl.NumberFormat(locale, { style: 'currency', currency, minimumFractionDigits: minor, maximumFractionDigits: digits })
  currencies.set(key, format)
  return format.format(exactly(value))
}

/** Formats a quantity: `1,200 units`, `2.5 kg`. */
export function quantity(value: Decimal, unit: string): string {
  return `${number(value)} ${unitNameOf(unit, plain(value))}`
}

export function number(value: Decimal): string {
  return plainNumber().format(exactly(plain(value)))
}

/** The quantities in which a product is sold, such as `From 10 kg, in steps of 2.5 kg`; undefined if its unit's rule holds. */
export function soldIn(product: Pick<Product, 'unit' | 'minimumQuantity' | 'quantityStep'>): string | undefined {
  const { unit, minimumQuantity, quantityStep } = product
  if (minimumQuantity === undefined && quantityStep === undefined) return undefined
  const steps = quantityStep === undefined ? '' : `, in steps of ${quantity(quantityStep, unit)}`
  return `From ${quantity(leastQuantity(quantityRule(product)), unit)}${steps}`
}

/** Tells how much of a line was shipped: `all shipped`, or `2 shipped, 4 to come`. */
export function shipped({ quantity, shippedQuantity = zero }: Pick<OrderItem, 'quantity' | 'shippedQuantity'>): string {
  const left = leftOf({ quantity, shippedQuantity })
  return compare(left, zero) > 0 ? `${number(shippedQuantity)} shipped, ${number(left)} to come` : 'all shipped'
}

export { perUnit, unitName, unitNameOf }

const dayAndTime = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }))
const day = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }))

/** Formats a time in UTC, since a cached page is the same for everybody. */
export function moment(milliseconds: number): string {
  return `${dayAndTime().format(milliseconds)} UTC`
}

/** Formats an xs:date. Any other text stays as it is. */
export function date(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(`${text.slice(0, 10)}T00:00:00Z`) : Number.NaN
  return Number.isNaN(time) ? text : `${day().format(time)}${text.slice(10)}`
}

/** The label of an element: `requested-delivery-date` becomes `Requested delivery date`. */
export function label(name: string): string {
  const words = name.replaceAll('-', ' ')
  return Object.hasOwn(spellings, name) ? (spellings[name] ?? words) : words.charAt(0).toUpperCase() + words.slice(1)
}

const spellings: Readonly<Record<string, string>> = {
  'tracking-uri': 'Link to the tracking page',
  'product-id': 'Product',
  gtin: 'GTIN',
  'tax-id': 'Tax id',
  email: 'E-mail',
  'ship-to': 'Ship to',
  'bill-to': 'Bill to'
}

/** Replaces the names of elements and fields in an error by their labels: `<tax-id> is …` becomes `Tax id is …`. */
export function forPeople(detail: string, path = ''): string {
  const name = path.split('.').findLast((step) => !/^\d+$/.test(step)) ?? ''
  const withLabel = name !== '' && detail.startsWith(`${name} `) ? `${label(name)}${detail.slice(name.length)}` : detail
  return withLabel.replace(/<([a-z][a-z-]*)>/g, (_, name: string) => label(name))
}

/** An image's URI, if it follows the rule for images. URIs that were stored before the rule, such as `//host`, may not. */
export function imageSource(href: string): string | undefined {
  return isImageUri(href) ? href : undefined
}
