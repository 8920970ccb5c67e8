import { DomainError } from './errors.ts'
import { compare, type Decimal, zero } from './money.ts'

export const availabilities = ['in-stock', 'out-of-stock', 'backorder'] as const
export type Availability = (typeof availabilities)[number]

/** A product as a seller writes it. */
export interface ProductDraft {
  readonly name: string
  readonly description?: string
  /** Per one `unit`, in the shop's currency. */
  readonly price: Decimal
  readonly currency?: string
  /** UN/ECE Recommendation 20 code. */
  readonly unit: string
  /** The least quantity of an order, and the number that every quantity is a multiple of; quantities.ts has the defaults. */
  readonly minimumQuantity?: Decimal
  readonly quantityStep?: Decimal
  readonly gtin?: string
  readonly categories: readonly string[]
  readonly images: readonly string[]
  readonly backorder: boolean
  /** Sets the stock in the same step; absent means unchanged (0 at creation). */
  readonly onHand?: Decimal
}

export interface Product extends Omit<ProductDraft, 'currency' | 'onHand'> {
  readonly id: string
  /** Rises with every change of its representation, also across delete and re-creation. */
  readonly version: number
  readonly currency: string
  readonly availability: Availability
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
}

/** A product in the list from which a person chooses. */
export type ProductName = Pick<Product, 'id' | 'name'>

/** A product in the lines of an order form. It has nothing that can be long. */
export type ProductOption = Pick<Product, 'id' | 'name' | 'price' | 'unit' | 'minimumQuantity' | 'quantityStep' | 'gtin' | 'availability'>

export interface Stock {
  readonly productId: string
  readonly version: number
  /** Below zero when more was sold on backorder than has arrived. */
  readonly onHand: Decimal
  readonly modifiedAt: number
}

/** The form of a product id, without anchors, for routes and schemas to share. */
export const productIdPattern = '[A-Za-z0-9._~\\-]{1,64}'

const productId = new RegExp(`^${productIdPattern}$`)

/** `.` and `..` would be dot segments in a URI (RFC 3986 section 3.3). */
export function isProductId(text: string): boolean {
  return productId.test(text) && text !== '.' && text !== '..'
}

export function availabilityOf(onHand: Decimal, backorder: boolean): Availability {
  if (compare(onHand, zero) > 0) return 'in-stock'
  return backorder ? 'backorder' : 'out-of-stock'
}

/**
 * Checks that a product, given as its row or another value with `deleted`, was found and is still sold.
 * @throws DomainError `product-not-found`, `product-deleted`
 */
export function requireActive<T extends { readonly deleted: boolean | 0 | 1 }>(id: string, found: T | undefined): T {
  if (!found) throw new DomainError('product-not-found', `There is no product ${id}.`)
  if (found.deleted) throw new DomainError('product-deleted', `The product ${id} is no longer sold.`)
  return found
}

/**
 * Whether a text can be the address of a product's image: https, or a path of this host. Browsers read `//host` and
 * `/\host` as addresses of other hosts (URL Standard, relative slash state).
 */
export function isImageUri(text: string): boolean {
  return /^(?:https:\/\/[^\s/\\]|\/(?![/\\]))\S*$/.test(text)
}

/** GS1 General Specifications section 7.9: weights 3 and 1 alternate from the digit before the check digit. */
export function isGtin(text: string): boolean {
  if (!/^(\d{8}|\d{12,14})$/.test(text)) return false
  const digits = [...text].reverse().map(Number)
  const sum = digits.slice(1).reduce((total, digit, i) => total + digit * (i % 2 === 0 ? 3 : 1), 0)
  return (10 - (sum % 10)) % 10 === digits[0]
}

export function wrongCheckDigit(gtin: string): string {
  return `The check digit of the GTIN ${gtin} is wrong.`
}

/** A GTIN in 14 digits, with zeros in front: GTINs of all lengths are one range of numbers (GS1 General Specifications, "GTIN-14 format"). */
export function gtin14(gtin: string): string {
  return gtin.padStart(14, '0')
}

/** The codes that can be GTINs, in 14 digits. */
export function gtinsAmong(codes: readonly string[]): readonly string[] {
  return codes.filter(isGtin).map(gtin14)
}

/** A GTIN in each of its lengths, which differ only in zeros at the beginning. */
export function gtinLengths(gtin: string): readonly string[] {
  const longest = gtin14(gtin)
  return [8, 12, 13, 14].map((length) => longest.slice(-length)).filter((one) => gtin14(one) === longest)
}

/**
 * The product that has a GTIN, whatever its length. Databases of earlier releases can have two such products: then the one with
 * exactly these digits is taken, or else the first.
 */
export function withGtin<P extends { readonly gtin?: string | null }>(products: readonly P[], gtin: string): P | undefined {
  const wanted = gtin14(gtin)
  return products.find((one) => one.gtin === gtin) ?? products.find((one) => one.gtin && gtin14(one.gtin) === wanted)
}

/** The most characters of a text that is searched for. */
export const mostSearchCharacters = 256

/** Whether a text has a word that a search of products can look for. */
export function hasSearchWord(text: string): boolean {
  return searchWords(text).length > 0
}

/** The words of a text that a search of products can look for. */
export function searchWords(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}
