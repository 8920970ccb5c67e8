/** Compares addresses and names as people write them, and tells what a change leaves of a party. */

import type { Address, Party } from './order.ts'

const parts: readonly (keyof Address)[] = ['street', 'additionalStreet', 'city', 'postalCode', 'region', 'country']

/** A text that is equal for equal names. Capital letters and white space do not matter. */
export function comparable(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim().toLowerCase()
}

/**
 * A text that is equal for equal addresses, whose parts are compared as names are.
 * @param part gives the text of a part of the address
 */
export function addressKey(part: (name: keyof Address) => string | undefined): string {
  return parts.map((name) => comparable(part(name))).join('\n')
}

export function isSameAddress(one: Address, other: Address): boolean {
  return addressKey((name) => one[name]) === addressKey((name) => other[name])
}

/** A party after a change: parts that the change leaves out stay. Of a party with another name, only the address stays. */
export function partyAfter(before: Party | undefined, changed: Party): Party {
  const isOther = changed.name !== undefined && comparable(changed.name) !== comparable(before?.name)
  const kept = isOther ? before?.address && { address: before.address } : before
  return { ...kept, ...changed }
}
