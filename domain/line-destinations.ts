/** Decides where an order goes after a change of single lines. An order goes to one address and one recipient. */

import { comparable, isSameAddress } from './addresses.ts'
import type { Fault } from './errors.ts'
import type { Extension, Order, PurchaseOrder } from './order.ts'

/** The extension of an order or a line that has the place that it goes to: its identifier, or its name. */
export const placeExtension = 'DeliveryLocation'

/** The extension of a line that has its recipient. */
export const recipientExtension = 'DeliveryParty'

/** The extension of a line that has the person to ask for. */
export const contactExtension = 'DeliveryContact'

/** The parts of the change's destination that a line names. All lines of a change name the same, and none a part that the header names. */
export interface LineDestination {
  /** The line names the address or, without one, the place. */
  readonly hasAddress?: true
  /** The identifier of the place. */
  readonly place?: string
  readonly hasRecipient?: true
}

export interface NamedDestination extends LineDestination {
  /** The position of the line in the document (from 1). */
  readonly position: number
}

/** The parts of a destination that a change gives up. A former recipient may be unknown at another address. */
export interface Moved {
  readonly address: boolean
  readonly recipient: boolean
}

export interface Settled {
  /** The document without the parts of its destination that only lines name and that the order has already. */
  readonly document: PurchaseOrder
  readonly moved: Moved
  readonly faults: readonly Fault[]
}

/**
 * The order moves only if the header of the change says so, or all its lines do. Single lines may name its present destination.
 * @param lines all lines of the order after the change. Those without a destination name none
 * @returns the fault `several-addresses` for each line that would move alone
 */
export function settleDestination(
  before: Order,
  document: PurchaseOrder,
  lines: readonly { readonly destination?: NamedDestination }[]
): Settled {
  const address = settleAddress(before, document, lines)
  const recipient = settleRecipient(address.isMoved ? undefined : before, document, lines)
  return {
    document: withoutPresent(document, lines, address, recipient),
    moved: { address: address.isMoved, recipient: address.isMoved || recipient.isMoved },
    faults: [...address.faults, ...recipient.faults]
  }
}

/** The extensions from before a change, without a destination that it has given up. */
export function withoutOldDestination(extensions: readonly Extension[], moved: Moved): readonly Extension[] {
  const old = [...(moved.address ? [placeExtension] : []), ...(moved.recipient ? [recipientExtension, contactExtension] : [])]
  return extensions.filter(({ name }) => !old.includes(name))
}

/** The decision about the address, or about the recipient. */
interface Outcome {
  readonly isMoved: boolean
  /** Only single lines name it, and the order has it already. */
  readonly isPresent?: true
  readonly faults: readonly Fault[]
}

const unmoved: Outcome = { isMoved: false, faults: [] }

/**
 * @param named the lines that name it. Empty: the header does, or nobody
 * @param total the number of all lines
 */
function settle(
  named: readonly NamedDestination[],
  total: number,
  { isKnown, hasOther }: { readonly isKnown: boolean; readonly hasOther: boolean },
  fault: (line: NamedDestination) => Fault
): Outcome {
  const isWhole = named.length === 0 || named.length === total
  if (isKnown) return isWhole ? unmoved : { ...unmoved, isPresent: true }
  if (!hasOther) return unmoved
  return isWhole ? { isMoved: true, faults: [] } : { isMoved: false, faults: named.map(fault) }
}

type Lines = Parameters<typeof settleDestination>[2]

function settleAddress(before: Order, document: PurchaseOrder, lines: Lines): Outcome {
  const named = lines.flatMap(({ destination }) => (destination?.hasAddress ? destination : []))
  const address = document.shipTo?.address
  const places = named.length > 0 ? named.flatMap(({ place }) => place ?? []) : valuesOf(placeExtension, document)
  if (named.length === 0 && !address && places.length === 0) return unmoved
  // An order without a ship-to goes to its buyer.
  const present = before.shipTo?.address ?? document.buyer?.address ?? before.buyer?.address
  const known = valuesOf(placeExtension, before)
  // Places are compared only without addresses, because one address can have several places.
  const isKnown = address && present ? isSameAddress(address, present) : places.some((place) => known.includes(place))
  if (!isKnown && !address && before.shipTo?.address) return { isMoved: false, faults: unknownPlaces(document, named) }
  return settle(named, lines.length, { isKnown, hasOther: present !== undefined || known.length > 0 }, otherAddress)
}

/** @param before undefined: the order gets another address, where its former recipient may be unknown */
function settleRecipient(before: Order | undefined, document: PurchaseOrder, lines: Lines): Outcome {
  const named = lines.flatMap(({ destination }) => (destination?.hasRecipient ? destination : []))
  const name = document.shipTo?.name
  const known = before ? [before.shipTo?.name ?? [], ...before.items.map((item) => valuesOf(recipientExtension, item))].flat() : []
  const wanted = comparable(name)
  const isKnown = name === undefined || known.some((one) => comparable(one) === wanted)
  return settle(named, lines.length, { isKnown, hasOther: known.length > 0 }, otherRecipient)
}

function valuesOf(extension: string, { extensions = [] }: { readonly extensions?: readonly Extension[] }): readonly string[] {
  return extensions.filter(({ name }) => name === extension).map(({ value }) => value)
}

const howToMove = 'To change it, name the new one for the order itself or for each of its lines.'

function otherAddress({ position }: NamedDestination): Fault {
  const detail = `The delivery address differs from that of the order, but not all its lines move. An order goes to one address. ${howToMove}`
  return { code: 'several-addresses', at: ['item', position, 'ship-to', 'address'], detail }
}

function otherRecipient({ position }: NamedDestination): Fault {
  const detail = `The recipient differs from that of the order, but not all its lines name it. An order goes to one recipient. ${howToMove}`
  return { code: 'several-addresses', at: ['item', position, 'ship-to', 'name'], detail }
}

/** The order would keep its address beside a place that may be elsewhere. */
function unknownPlaces({ extensions }: PurchaseOrder, named: readonly NamedDestination[]): readonly Fault[] {
  const detail = 'The delivery location is not one of the order, which has a delivery address. Name the address of the location too.'
  const places = named.map(({ position }) => ['item', position, 'ship-to', 'address'])
  const own = ['extension', extensions.findIndex(({ name }) => name === placeExtension) + 1]
  return (places.length > 0 ? places : [own]).map((at) => ({ code: 'several-addresses', at, detail }))
}

function withoutPresent(document: PurchaseOrder, lines: Lines, address: Outcome, recipient: Outcome): PurchaseOrder {
  const { shipTo = {}, extensions, ...others } = document
  const { address: named, ...party } = shipTo
  const left = { ...(recipient.isPresent ? {} : party), ...(named && !address.isPresent ? { address: named } : {}) }
  const places = new Set(address.isPresent && lines.map(({ destination }) => destination?.place))
  return {
    ...others,
    ...(Object.keys(left).length > 0 ? { shipTo: left } : {}),
    extensions: extensions.filter(({ name, value }) => name !== placeExtension || !places.has(value))
  }
}
