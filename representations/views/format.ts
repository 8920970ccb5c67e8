import { type Decimal, minorUnit, plain } from '../../domain/money.ts'
import { perUnit, unitName, unitNameOf } from './units.ts'

const locale = 'en'
const currencies = new Map<string, Intl.NumberFormat>()
const plainNumber = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 })

/** Intl formats a decimal string digit by digit (ECMA-402, NumberFormat v3): no binary floating point comes between. */
const exactly = (value: Decimal) => value as `${number}`

/** A price keeps the fraction digits that it has beyond the currency's: 0.0125 is not 0.01. */
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

/** `1,200 units`, `2.5 kg`. */
export function quantity(value: Decimal, unit: string): string {
  return `${number(value)} ${unitNameOf(unit, plain(value))}`
}

export function number(value: Decimal): string {
  return plainNumber.format(exactly(plain(value)))
}

export { perUnit, unitName }

const dayAndTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** A moment for people, in UTC: a page is the same for everybody, wherever they are. */
export function moment(milliseconds: number): string {
  return `${dayAndTime.format(milliseconds)} UTC`
}

/** An xs:date for people; what is no date stays as it is. */
export function date(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(`${text.slice(0, 10)}T00:00:00Z`) : Number.NaN
  return Number.isNaN(time) ? text : `${day.format(time)}${text.slice(10)}`
}

/** Sentence case of a name of the vocabulary: `requested-delivery-date` -> `Requested delivery date`. */
export function label(name: string): string {
  const words = name.replaceAll('-', ' ')
  return Object.hasOwn(spellings, name) ? (spellings[name] ?? words) : words.charAt(0).toUpperCase() + words.slice(1)
}

const spellings: Readonly<Record<string, string>> = {
  'product-id': 'Product',
  gtin: 'GTIN',
  'tax-id': 'Tax id',
  email: 'E-mail',
  'ship-to': 'Ship to',
  'bill-to': 'Bill to'
}

/** What the service says of a field or of elements, in the words of a page: `tax-id is …`, `<tax-id> is …` -> `Tax id is …`. */
export function forPeople(detail: string, path = ''): string {
  const name = path.split('.').findLast((step) => !/^\d+$/.test(step)) ?? ''
  const told = name !== '' && detail.startsWith(`${name} `) ? `${label(name)}${detail.slice(name.length)}` : detail
  return told.replace(/<([a-z][a-z-]*)>/g, (_, name: string) => label(name))
}

/** Only what a browser loads as an image from the web or from here; anything else, `javascript:` included, is none. */
export function imageSource(href: string): string | undefined {
  return /^(https:\/\/|\/(?!\/))\S*$/.test(href) ? href : undefined
}
