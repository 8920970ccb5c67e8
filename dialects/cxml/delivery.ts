import type { FaultList } from '../faults.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'

/** A line of the order and the buyer's number of it. */
export interface NumberedLine {
  readonly element: XmlElement
  readonly number: string
}

interface Destination {
  readonly shipTo: XmlElement
  /** Undefined: the ShipTo is the header's. */
  readonly line?: NumberedLine
  /** White space is collapsed, and letters are in lower case. Empty: the ShipTo does not say it. */
  readonly name: string
  readonly postal: readonly string[]
  readonly hasPostal: boolean
  readonly id: string
  readonly idDomain: string
}

/**
 * The ShipTo of the whole order. One order goes to one address, so another address of a line is a fault. A ShipTo may leave out parts
 * of the address, as SAP's lines do, and still be the same. The person (DeliverTo) is not a part of the address.
 */
export function findShipTo(header: XmlElement, lines: readonly NumberedLine[], faults: FaultList): XmlElement | undefined {
  const destinations = [
    ...destinationsOf(header),
    ...lines.flatMap((line) => [line.element, ...findAll(line.element, 'ScheduleLine')].flatMap((parent) => destinationsOf(parent, line)))
  ]
  const reference = destinations.find(({ hasPostal }) => hasPostal) ?? destinations[0]
  if (!reference) return undefined
  for (const destination of destinations) {
    if (!differ(reference, destination)) continue
    const other = reference.line ? `line ${reference.line.number}` : 'the order'
    const detail = `The ShipTo is another address than that of ${other}. One order goes to one address: send an order for each address.`
    faults.add('several-addresses', destination.shipTo, detail, destination.line ? { item: destination.line.number } : {})
  }
  return reference.shipTo
}

/** The person at the address, which DeliverTo may name in several lines. Empty without one. */
export function personOf(shipTo: XmlElement | undefined): string {
  const names = findAll(find(shipTo, 'Address', 'PostalAddress'), 'DeliverTo').map(trimmedText)
  return names.filter((name) => name !== undefined).join(', ')
}

/** A ShipTo without any content, such as SAP's `<Name/>`, does not count. */
function destinationsOf(parent: XmlElement, line?: NumberedLine): readonly Destination[] {
  const shipTo = find(parent, 'ShipTo')
  const address = find(shipTo, 'Address')
  if (!shipTo || !address) return []
  const postalAddress = find(address, 'PostalAddress')
  const country = attributeOf(find(postalAddress, 'Country'), 'isoCountryCode') ?? attributeOf(address, 'isoCountryCode')
  const part = (local: string) => comparable(trimmedText(find(postalAddress, local)))
  const streets = findAll(postalAddress, 'Street').map((street) => comparable(trimmedText(street)))
  const located = [streets.filter(Boolean).join(' '), part('City'), part('PostalCode'), part('State') || part('Municipality')]
  const name = comparable(trimmedText(find(address, 'Name')))
  const id = comparable(attributeOf(address, 'addressID'))
  const hasPostal = located.some(Boolean)
  if (!hasPostal && !name && !id) return []
  const idDomain = comparable(attributeOf(address, 'addressIDDomain'))
  return [{ shipTo, ...(line ? { line } : {}), name, postal: [...located, comparable(country)], hasPostal, id, idDomain }]
}

function comparable(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').toLowerCase()
}

/** Ids are compared only without addresses, because one address has different ids in different systems. */
function differ(one: Destination, other: Destination): boolean {
  if (one === other) return false
  if (bothDiffer(one.name, other.name)) return true
  if (one.hasPostal && other.hasPostal) return one.postal.some((part, i) => bothDiffer(part, other.postal[i] ?? ''))
  if (one.idDomain === other.idDomain && bothDiffer(one.id, other.id)) return true
  return !(one.name && other.name) && !(one.id && other.id)
}

function bothDiffer(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other
}
