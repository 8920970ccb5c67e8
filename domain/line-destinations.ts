/** Decides where an order goes after a change of single lines. An order goes to one address and one recipient. */

import { comparable, isSameAddress, partyAfter } from './addresses.ts'
import type { Fault } from './errors.ts'
import type { Extension, Order, PurchaseOrder } from './order.ts'

/** The extension of an order that has the identifier of the place that it goes to. */
export const placeExtension = 'DeliveryLocation'

/** The extension of a line that has its recipient, with the contact after a comma. */
export const recipientExtension = 'DeliveryParty'

/** The destination that a line of a change names, if the change names none for the whole order. All lines of a change name the same. */
export interface LineDestination {
  /**
   * `ship-to`: the line has the address, or the place, of the change's ship-to. `address`: the same, but the change names the recipient
   * for the whole order. Absent: the line names a recipient only.
   */
  readonly names?: 'ship-to' | 'address'
  /** The identifier of the place. */
  readonly place?: string
  /** The recipient, if the change names none for the whole order. */
  readonly recipient?: string
}

/** A line of the changed order. */
interface Line {
  readonly item: { readonly extensions?: readonly Extension[] }
  /** Absent: the change does not say where the line goes. */
  readonly destination?: LineDestination & { readonly position: number }
}

export interface Settled {
  /** The document with the ship-to that the changed order gets. Without one, the order keeps its own. */
  readonly document: PurchaseOrder
  readonly faults: readonly Fault[]
}

/**
 * The order moves only if all its lines do. Lines that name its present destination change nothing of it.
 * @param lines all lines of the order after the change
 * @returns the fault `several-addresses` for each line that would move alone
 */
export function settleDestination(before: Order, document: PurchaseOrder, lines: readonly Line[]): Settled {
  const named = lines.flatMap(({ destination }) => destination ?? [])
  const addressed = named.filter(({ names }) => names)
  if (addressed.length > 0 && isElsewhere(before, document, addressed)) {
    return { document, faults: addressed.length === lines.length ? [] : addressed.map(otherAddress) }
  }
  const addressedTo = named.filter(({ recipient }) => recipient !== undefined)
  const recipient = addressedTo[0]?.recipient
  if (recipient === undefined || !isOtherRecipient(before, lines, recipient)) {
    return { document: addressed[0]?.names === 'ship-to' ? withoutPresent(before, document) : document, faults: [] }
  }
  if (addressedTo.length < lines.length) return { document, faults: addressedTo.map(otherRecipient) }
  return { document: document.shipTo ? document : { ...document, shipTo: partyAfter(before.shipTo, { name: recipient }) }, faults: [] }
}

const howToMove = 'To change it, name the new one for the order itself or for each of its lines.'

function otherAddress({ position }: { readonly position: number }): Fault {
  const detail = `The delivery address differs from that of the order, but not all its lines move. An order goes to one address. ${howToMove}`
  return { code: 'several-addresses', at: ['item', position, 'ship-to', 'address'], detail }
}

function otherRecipient({ position }: { readonly position: number }): Fault {
  const detail = `The recipient differs from that of the order, but not all its lines name it. An order goes to one recipient. ${howToMove}`
  return { code: 'several-addresses', at: ['item', position, 'ship-to', 'name'], detail }
}

/** An order without a ship-to goes to its buyer. */
function addressOf({ shipTo, buyer }: Order, document: PurchaseOrder) {
  return shipTo?.address ?? buyer?.address ?? document.buyer?.address
}

function placesOf({ extensions }: Order): readonly string[] {
  return extensions.filter(({ name }) => name === placeExtension).map(({ value }) => value)
}

/** Places are compared by their identifiers only without addresses, because one address can have several places. */
function isElsewhere(before: Order, document: PurchaseOrder, addressed: readonly LineDestination[]): boolean {
  const present = addressOf(before, document)
  const address = document.shipTo?.address
  if (present && address) return !isSameAddress(present, address)
  const places = placesOf(before)
  const place = addressed.find((one) => one.place !== undefined)?.place
  if (place !== undefined && places.length > 0) return !places.includes(place)
  return places.length > 0 || before.shipTo?.address !== undefined
}

function recipientsIn({ extensions = [] }: Line['item']): readonly string[] {
  return extensions.filter(({ name }) => name === recipientExtension).map(({ value }) => comparable(value))
}

function isOtherRecipient({ shipTo, items }: Order, lines: readonly Line[], recipient: string): boolean {
  const wanted = comparable(recipient)
  const known = [comparable(shipTo?.name), ...items.flatMap(recipientsIn)]
  if (known.some((one) => one === wanted || one.startsWith(`${wanted},`))) return false
  return shipTo?.name !== undefined || lines.some(({ item, destination }) => !destination?.recipient && recipientsIn(item).length > 0)
}

/** The document without the destination that its lines name, which the order has already. An order that has none gets it. */
function withoutPresent(before: Order, document: PurchaseOrder): PurchaseOrder {
  const { shipTo, ...others } = document
  if (addressOf(before, document) || placesOf(before).length > 0) {
    return { ...others, extensions: document.extensions.filter(({ name }) => name !== placeExtension) }
  }
  return shipTo ? { ...others, shipTo: { ...shipTo, ...before.shipTo } } : document
}
