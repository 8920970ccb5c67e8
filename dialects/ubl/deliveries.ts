import { comparable } from '../../domain/addresses.ts'
import { placeExtension, recipientExtension } from '../../domain/line-destinations.ts'
import { defined } from '../../schemas/element.ts'
import { shorten } from '../../schemas/shorten.ts'
import type { AddressDraft, DestinationDraft, ExtensionDraft, PartyDraft, Sourced } from '../buyer-document.ts'
import type { FaultList } from '../faults.ts'
import { find, findAll, type XmlElement } from '../xml-element.ts'
import { addressKey, addressOf, partyOf } from './parties.ts'
import { extensionsOf, joined, schemed, valueAt } from './values.ts'

/** The destination of a Delivery: an address, or a location that only has an identifier. */
interface Destination {
  readonly from: XmlElement
  readonly delivery: XmlElement
  readonly address?: AddressDraft | undefined
  readonly location?: string | undefined
  /** The sender's number of the line, for a Delivery of a line. */
  readonly item?: Sourced | undefined
}

/** A line that is to be delivered. */
export interface DeliveredLine {
  readonly lineItem: XmlElement
  readonly id?: Sourced | undefined
}

export interface DeliveryDraft {
  readonly shipTo?: PartyDraft | undefined
  readonly date?: Sourced | undefined
  readonly extensions: readonly ExtensionDraft[]
}

function destinationsOf(delivery: XmlElement, item?: Sourced): readonly Destination[] {
  const at = find(delivery, 'DeliveryLocation')
  const location = schemed(find(at, 'ID'))?.text
  const party = find(delivery, 'DeliveryParty', 'PostalAddress')
  const found = [find(at, 'Address'), find(delivery, 'DeliveryAddress')].flatMap((from) => {
    const address = addressOf(from)
    return from && address ? [{ from, delivery, address, location, item }] : []
  })
  if (found.length > 0) return found
  const address = addressOf(party)
  if (party && address) return [{ from: party, delivery, address, location, item }]
  return at && location !== undefined ? [{ from: at, delivery, location, item }] : []
}

function isSame(a: Destination, b: Destination): boolean {
  if (a.address && b.address) return addressKey(a.address) === addressKey(b.address)
  return a.location !== undefined && a.location === b.location
}

/** RequestedDeliveryPeriod is in UBL 2.0 and later. RequestedDeliveryDate occurs beside it. */
function dateOf(delivery: XmlElement): Sourced | undefined {
  const period = find(delivery, 'RequestedDeliveryPeriod')
  return valueAt(period, 'EndDate') ?? valueAt(period, 'StartDate') ?? valueAt(delivery, 'RequestedDeliveryDate')
}

/** The whole period as an extension, if it says more than the requested delivery date. */
function periodsOf(delivery: XmlElement): readonly ExtensionDraft[] {
  const from = find(delivery, 'RequestedDeliveryPeriod')
  if (!from) return []
  const text = (name: string) => valueAt(from, name)?.text
  const moment = (date: string | undefined, time: string | undefined) => [date, time].filter((part) => part !== undefined).join(' ')
  const start = moment(text('StartDate'), text('StartTime'))
  const end = moment(text('EndDate'), text('EndTime'))
  if (start === end || (start === '' && text('EndTime') === undefined)) return []
  const whole = [start === '' ? '' : `from ${start}`, end === '' ? '' : `to ${end}`].filter((part) => part !== '').join(' ')
  return whole === `from ${text('StartDate')}` ? [] : [{ name: 'RequestedDeliveryPeriod', value: { text: whole, from } }]
}

/**
 * The date on which an order or a line is to be delivered. Several dates are refused: the shop delivers a line as a whole.
 * @param parent the order or its LineItem
 */
export function readDate(parent: XmlElement, faults: FaultList, item?: Sourced): Pick<DeliveryDraft, 'date' | 'extensions'> {
  const deliveries = findAll(parent, 'Delivery')
  if (deliveries.length === 0) return { date: undefined, extensions: [] }
  const dates = deliveries.flatMap((delivery) => dateOf(delivery) ?? [])
  const other = dates.find(({ text }) => text !== dates[0]?.text)
  if (other) {
    const both = `${shorten(dates[0]?.text ?? '')} and for ${shorten(other.text)}`
    const detail = `The delivery is requested for ${both}, but the shop delivers at once. Request one date, or send an order for each.`
    faults.add('invalid-value', other.from, detail, { item: item?.text })
  }
  return { date: dates[0], extensions: deliveries.flatMap(periodsOf) }
}

function partyIn(delivery: XmlElement): PartyDraft | undefined {
  return partyOf(find(delivery, 'DeliveryParty'))
}

function placeOf(delivery: XmlElement): Sourced | undefined {
  return valueAt(delivery, 'DeliveryLocation', 'Name')
}

/** The recipient of each Delivery of a line, with the contact, and the place at the order's address. */
export function extensionsOfDeliveries(lineItem: XmlElement): readonly ExtensionDraft[] {
  const deliveries = findAll(lineItem, 'Delivery')
  const recipients = deliveries.map((delivery) => {
    const party = partyIn(delivery)
    return joined([party?.name, party?.contact], ', ')
  })
  const places = deliveries.flatMap((delivery) => [schemed(find(delivery, 'DeliveryLocation', 'ID')), placeOf(delivery)])
  return [...extensionsOf(recipientExtension, recipients), ...extensionsOf(placeExtension, places)]
}

const oneAddress = 'An order goes to one address. Send an order for each address.'

function refuseOthers(destinations: readonly Destination[], faults: FaultList): void {
  const [first] = destinations
  for (const other of destinations) {
    if (!first || isSame(first, other)) continue
    const where = first.item ? `line ${shorten(first.item.text)}` : 'the Delivery of the order'
    const detail = `The delivery address differs from that of ${first.delivery === other.delivery ? 'the same Delivery' : where}. ${oneAddress}`
    faults.add('several-addresses', other.from, detail, { item: other.item?.text })
  }
}

interface Recipient {
  readonly name: Sourced
  readonly item?: Sourced | undefined
}

function recipientsOf(deliveries: readonly XmlElement[], item?: Sourced): readonly Recipient[] {
  return deliveries.flatMap((delivery) => {
    const name = partyIn(delivery)?.name
    return name ? [{ name, item }] : []
  })
}

function isOther(name: Sourced, first: Sourced | undefined): boolean {
  return first !== undefined && comparable(name.text) !== comparable(first.text)
}

const oneRecipient = 'An order goes to one recipient. Send an order for each recipient.'

/** A DeliveryLocation/Name counts as a recipient in the order only. In a line it is a place at the order's address. */
function refuseOtherRecipients(deliveries: readonly XmlElement[], lines: readonly DeliveredLine[], faults: FaultList): void {
  const names = deliveries.flatMap((delivery) => partyIn(delivery)?.name ?? placeOf(delivery) ?? [])
  const otherName = names.find((name) => isOther(name, names[0]))
  if (otherName) faults.add('several-addresses', otherName.from, `The order has deliveries to several recipients. ${oneRecipient}`)
  const ofLines = lines.flatMap(({ lineItem, id }) => recipientsOf(findAll(lineItem, 'Delivery'), id))
  const first = recipientsOf(deliveries)[0] ?? ofLines[0]
  for (const { name, item } of ofLines) {
    if (!isOther(name, first?.name)) continue
    const where = first?.item ? `line ${shorten(first.item.text)}` : 'the order'
    faults.add('several-addresses', name.from, `The recipient differs from that of ${where}. ${oneRecipient}`, { item: item?.text })
  }
}

/** Returns a function that reads the destination of a line. Lines name none if the OrderChange itself does. */
export function makeDestinationReader(change: XmlElement): (lineItem: XmlElement) => DestinationDraft | undefined {
  const own = findAll(change, 'Delivery')
  if (own.some((delivery) => destinationsOf(delivery).length > 0)) return () => undefined
  const isNamed = own.some((delivery) => partyIn(delivery)?.name ?? placeOf(delivery))
  return (lineItem) => {
    const deliveries = findAll(lineItem, 'Delivery')
    const [first] = deliveries.flatMap((delivery) => destinationsOf(delivery))
    const recipient = isNamed ? undefined : recipientsOf(deliveries)[0]?.name
    if (!first && !recipient) return undefined
    const names = first && (isNamed ? 'address' : 'ship-to')
    return {
      from: { address: first?.from, recipient: recipient?.from },
      ...defined({ names, place: first?.location, recipient: recipient?.text })
    }
  }
}

/** @param own the Deliverys of the order, one of which may name the recipient while a line has the address */
function shipToOf(own: readonly XmlElement[], destination: Destination | undefined): PartyDraft | undefined {
  const delivery = destination?.delivery ?? own[0]
  if (!delivery) return undefined
  const party = [delivery, ...own].map(partyIn).find((found) => found !== undefined)
  const name = party?.name ?? placeOf(delivery)
  if (!party && !name && !destination?.address) return undefined
  return { ...party, from: party?.from ?? delivery, name, address: destination?.address }
}

/**
 * The address and the date of the delivery. If only lines have an address, and all have the same, it is the order's.
 * @param home the buyer's address, to which lines without an address go if the order has none. Undefined also for a change of single
 *   lines: the others go where the order goes
 */
export function readDelivery(
  order: XmlElement,
  lines: readonly DeliveredLine[],
  home: AddressDraft | undefined,
  faults: FaultList
): DeliveryDraft {
  const deliveries = findAll(order, 'Delivery')
  const own = deliveries.flatMap((delivery) => destinationsOf(delivery))
  const ofLines = lines.map(({ lineItem, id }) => findAll(lineItem, 'Delivery').flatMap((delivery) => destinationsOf(delivery, id)))
  const all = [...own, ...ofLines.flat()]
  refuseOthers(all, faults)
  refuseOtherRecipients(deliveries, lines, faults)
  const [first] = all
  const isElsewhere = first?.address && home && addressKey(first.address) !== addressKey(home)
  if (first && isElsewhere && own.length === 0 && ofLines.some(({ length }) => length === 0)) {
    faults.add('several-addresses', first.from, `Only some lines have a delivery address; the others go to the buyer's. ${oneAddress}`, {
      item: first.item?.text
    })
  }
  const { date, extensions } = readDate(order, faults)
  const shipTo = shipToOf(deliveries, first)
  const location = schemed(find(first?.delivery, 'DeliveryLocation', 'ID'))
  const places = deliveries.map(placeOf).filter((place) => place?.text !== shipTo?.name?.text)
  return { shipTo, date, extensions: [...extensions, ...extensionsOf(placeExtension, [location, ...places])] }
}
