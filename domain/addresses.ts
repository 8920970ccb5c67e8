/** Compares addresses and names as people write them, and tells what a change leaves of a party. */

import type { Address, Party } from './order.ts'

/** Every part of an address. The type requires all of them, so that none is forgotten. */
const parts: { readonly [Name in keyof Required<Address>]: true } = {
  street: true,
  additionalStreet: true,
  city: true,
  postalCode: true,
  region: true,
  country: true
}
const partNames = Object.keys(parts) as readonly (keyof Address)[]

/**
 * Normalises a text, unless it has more than 30 combining marks in a row. Sorting these takes quadratic time, and no real text has so many
 * (UAX #15, Stream-Safe Text Format).
 */
function composed(text: string): string {
  return /\p{M}{31}/u.test(text) ? text : text.normalize()
}

/** A text that is equal for equal names. Capital letters, white space and the form of Unicode do not matter. */
export function comparable(text: string | undefined): string {
  return composed(text ?? '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}

/**
 * A text that is equal for equal addresses, whose parts are compared as names are.
 * @param part gives the text of a part of the address
 */
export function addressKey(part: (name: keyof Address) => string | undefined): string {
  return partNames.map((name) => comparable(part(name))).join('\n')
}

export function isSameAddress(one: Address, other: Address): boolean {
  return addressKey((name) => one[name]) === addressKey((name) => other[name])
}

/**
 * A party after a change: parts that the change leaves out stay, but an address is replaced as a whole. Of a party with another name,
 * only the address stays.
 */
export function partyAfter(before: Party | undefined, changed: Party): Party {
  const isOther = before?.name !== undefined && changed.name !== undefined && comparable(changed.name) !== comparable(before.name)
  const kept = isOther ? before.address && { address: before.address } : before
  return { ...kept, ...changed }
}
