import { comparable } from '../../domain/addresses.ts'
import { contactExtension, placeExtension, recipientExtension } from '../../domain/line-destinations.ts'
import { shorten } from '../../schemas/shorten.ts'
import type { AddressDraft, DestinationDraft, ExtensionDraft, PartyDraft, Sourced } from '../buyer-document.ts'
import type { FaultList } from '../faults.ts'
import { find, findAll, type XmlElement } from '../xml-element.ts'
import { addressKey, addressOf, partyOf } from './parties.ts'
import { extensionsOf, schemed, valueAt } from './values.ts'

/** A line that is to be delivered. */
export interface DeliveredLine {
  readonly lineItem: XmlElement
  readonly id?: Sourced | undefined
}

export interface DeliveryDraft {
  readonly shipTo?: PartyDraft | undefined
  readonly date?: Sourced | undefined
  readonly extensions: readonly ExtensionDraft[]
  /** The parts of the destination that lines name and the order's own Delivery does not, by their LineItem. */
  readonly ofLines: ReadonlyMap<XmlElement, DestinationDraft>
}

interface Delivery {
  readonly element: XmlElement
  readonly party: PartyDraft | undefined
  /** Undefined: the Delivery is the order's own. */
  readonly line?: DeliveredLine
}

/** The destination of a Delivery: an address, or a location that only has an identifier. */
interface Destination {
  readonly from: XmlElement
  readonly delivery: Delivery
  readonly address?: AddressDraft
  readonly location?: string | undefined
}

function deliveriesOf(parent: XmlElement, line?: DeliveredLine): readonly Delivery[] {
  return findAll(parent, 'Delivery').map((element) => ({ element, party: partyOf(find(element, 'DeliveryParty')), ...(line && { line }) }))
}

function destinationsOf(delivery: Delivery): readonly Destination[] {
  const { element } = delivery
  const at = find(element, 'DeliveryLocation')
  const location = schemed(find(at, 'ID'))?.text
  const addressed = (from: XmlElement | undefined): readonly Destination[] => {
    const address = addressOf(from)
    return from && address ? [{ from, delivery, address, location }] : []
  }
  const found = [find(at, 'Address'), find(element, 'DeliveryAddress')].flatMap(addressed)
  if (found.length > 0) return found
  const ofParty = addressed(find(element, 'DeliveryParty', 'PostalAddress'))
  if (ofParty.length > 0) return ofParty
  return at && location !== undefined ? [{ from: at, delivery, location }] : []
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

function placeOf({ element }: Delivery): Sourced | undefined {
  return valueAt(element, 'DeliveryLocation', 'Name')
}

function locationOf({ element }: Delivery): Sourced | undefined {
  return schemed(find(element, 'DeliveryLocation', 'ID'))
}

/** The recipient of each Delivery of a line, with the contact, and the place at the order's address. */
export function extensionsOfDeliveries(lineItem: XmlElement): readonly ExtensionDraft[] {
  const deliveries = deliveriesOf(lineItem)
  const parties = deliveries.map(({ party }) => party)
  const names = parties.map((party) => party?.name)
  const contacts = parties.map((party) => party?.contact)
  const places = deliveries.flatMap((delivery) => [locationOf(delivery), placeOf(delivery)])
  return [...extensionsOf(recipientExtension, names), ...extensionsOf(contactExtension, contacts), ...extensionsOf(placeExtension, places)]
}

function nameOf({ line }: Delivery): string {
  return line?.id ? `line ${shorten(line.id.text)}` : 'the order'
}

const oneAddress = 'An order goes to one address. Send an order for each address.'

/** The destination of the whole order: one with an address, if any has one. Others are refused, unless they are a place at this address. */
function readDestination(deliveries: readonly Delivery[], faults: FaultList): Destination | undefined {
  const destinations = deliveries.flatMap(destinationsOf)
  const found = destinations.find(({ address }) => address) ?? destinations[0]
  if (!found) return undefined
  const key = found.address && addressKey(found.address)
  const isThere = ({ address }: Destination) => address && addressKey(address) === key
  const places = new Set([found, ...destinations.filter(isThere)].map(({ location }) => location))
  for (const other of destinations) {
    if (other.address ? isThere(other) : places.has(other.location)) continue
    const { line } = found.delivery
    const where = found.delivery === other.delivery ? 'the same Delivery' : line ? nameOf(found.delivery) : 'the Delivery of the order'
    const detail = `The delivery address differs from that of ${where}. ${oneAddress}`
    faults.add('several-addresses', other.from, detail, { item: other.delivery.line?.id?.text })
  }
  return found
}

interface Recipient {
  readonly delivery: Delivery
  readonly name?: Sourced | undefined
}

const oneRecipient = 'An order goes to one recipient. Send an order for each recipient.'

/**
 * The recipient of the order: a DeliveryParty, else the DeliveryLocation/Name of the order's own Delivery. In a line that is only a
 * place at the order's address. Other recipients are refused.
 */
function readRecipient(deliveries: readonly Delivery[], faults: FaultList): Recipient | undefined {
  const parties = deliveries.map((delivery) => ({ delivery, name: delivery.party?.name })).filter(({ name }) => name)
  const places = deliveries.filter(({ line }) => !line).map((delivery) => ({ delivery, name: placeOf(delivery) }))
  const named: readonly Recipient[] = parties.length > 0 ? parties : places.filter(({ name }) => name)
  const [first] = named
  const wanted = comparable(first?.name?.text)
  for (const { delivery, name } of named) {
    if (!first || !name || comparable(name.text) === wanted) continue
    const detail = delivery.line
      ? `The recipient differs from that of ${nameOf(first.delivery)}.`
      : 'The order has deliveries to several recipients.'
    faults.add('several-addresses', name.from, `${detail} ${oneRecipient}`, { item: delivery.line?.id?.text })
  }
  // A DeliveryParty may have a contact only.
  const delivery = deliveries.find(({ party }) => party)
  return first ?? (delivery && { delivery })
}

function shipToOf(destination: Destination | undefined, recipient: Recipient | undefined): PartyDraft | undefined {
  const delivery = recipient?.delivery ?? (destination?.address && destination.delivery)
  if (!delivery) return undefined
  const { party, element } = delivery
  return { from: element, ...party, name: recipient?.name, address: destination?.address }
}

/**
 * The address and the date of the delivery. If only lines have an address, and all have the same, it is the order's.
 * @param buyersAddress lines without an address go there if the order has none. Undefined for a change of single lines too, because its
 *   other lines go where the order goes.
 */
export function readDelivery(
  order: XmlElement,
  lines: readonly DeliveredLine[],
  buyersAddress: AddressDraft | undefined,
  faults: FaultList
): DeliveryDraft {
  const own = deliveriesOf(order)
  const ofLines = lines.map((line) => ({ line, deliveries: deliveriesOf(line.lineItem, line) }))
  const all = [...own, ...ofLines.flatMap(({ deliveries }) => deliveries)]
  const isLocated = own.some((delivery) => destinationsOf(delivery).length > 0)
  const destination = readDestination(all, faults)
  const recipient = readRecipient(all, faults)
  const namedByLines = ofLines.map(({ line, deliveries }) => {
    const [address] = isLocated ? [] : deliveries.flatMap(destinationsOf)
    const party = recipient?.delivery.line && deliveries.find((delivery) => delivery.party)?.party
    return [line.lineItem, { address, place: address?.location, recipient: party?.name ?? party }] as const
  })
  const isElsewhere = destination?.address && buyersAddress && addressKey(destination.address) !== addressKey(buyersAddress)
  if (destination && isElsewhere && !isLocated && namedByLines.some(([, { address }]) => !address)) {
    const detail = `Only some lines have a delivery address; the others go to the buyer's. ${oneAddress}`
    faults.add('several-addresses', destination.from, detail, { item: destination.delivery.line?.id?.text })
  }
  const { date, extensions } = readDate(order, faults)
  const shipTo = shipToOf(destination, recipient)
  const location = destination && locationOf(destination.delivery)
  const places = own.map(placeOf).filter((place) => place?.text !== shipTo?.name?.text)
  return {
    shipTo,
    date,
    extensions: [...extensions, ...extensionsOf(placeExtension, [location, ...places])],
    ofLines: new Map(namedByLines)
  }
}
