import { comparable } from '../../domain/addresses.ts'
import type { FaultList } from '../faults.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'

/** A line of the order and the buyer's number of it. */
export interface NumberedLine {
  readonly element: XmlElement
  readonly number: string
}

/** The content of a ShipTo that can tell it from others. */
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

export interface OrderDestination {
  /** The ShipTo with the address, if any has one. */
  readonly shipTo: XmlElement
  /** The ShipTo that names the recipient. Absent: none does. */
  readonly named?: XmlElement | undefined
}

/**
 * The destination of the whole order. One order goes to one address, so another address of a line is a fault. A ShipTo may leave out
 * parts of the address, as SAP's lines do, and still be the same. So it is compared with all that others say, first those that say
 * most. The person (DeliverTo) is not a part of the address.
 */
export function findDestination(header: XmlElement, lines: readonly NumberedLine[], faults: FaultList): OrderDestination | undefined {
  const ofLines = lines.flatMap((line) =>
    [line.element, ...findAll(line.element, 'ScheduleLine')].flatMap((parent) => destinationsOf(parent, line))
  )
  const [reference, ...others] = [...destinationsOf(header), ...ofLines].toSorted((a, b) => rankOf(b) - rankOf(a))
  if (!reference) return undefined
  const agreed = new Agreed(reference)
  for (const destination of others) {
    const conflict = agreed.conflictWith(destination)
    if (conflict) addFault(destination, conflict, faults)
    else agreed.add(destination)
  }
  return { shipTo: reference.shipTo, named: agreed.named }
}

/** A ShipTo with an address connects names and ids to it. One without connects a name and an id. */
function rankOf({ hasPostal, name, id }: Destination): number {
  return hasPostal ? 2 : Number(name !== '' && id !== '')
}

function addFault({ name, shipTo, line }: Destination, other: Destination, faults: FaultList): void {
  const where = other.line ? `line ${other.line.number}` : 'the order'
  const detail = bothDiffer(name, other.name)
    ? `The ShipTo names another recipient than that of ${where}. One order goes to one recipient: send an order for each recipient.`
    : `The ShipTo is another address than that of ${where}. One order goes to one address: send an order for each address.`
  faults.add('several-addresses', shipTo, detail, line ? { item: line.number } : {})
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

/** Combines destinations that agree. For each part it keeps the first destination that has the part, and of ids the first with each. */
class Agreed {
  readonly #reference: Destination
  readonly #postal = new Map<number, Destination>()
  /** By domain and id. */
  readonly #ids = new Map<string, Map<string, Destination>>()
  #named: Destination | undefined

  /** @param reference has an address if any destination has one */
  constructor(reference: Destination) {
    this.#reference = reference
    this.add(reference)
  }

  get named(): XmlElement | undefined {
    return this.#named?.shipTo
  }

  add(destination: Destination): void {
    const { name, postal, hasPostal, id, idDomain } = destination
    if (name) this.#named ??= destination
    const ids = this.#ids.get(idDomain) ?? new Map<string, Destination>()
    if (id && !ids.has(id)) this.#ids.set(idDomain, ids.set(id, destination))
    for (const [i, part] of hasPostal ? postal.entries() : []) if (part && !this.#postal.has(i)) this.#postal.set(i, destination)
  }

  /**
   * Returns the earlier destination that this one contradicts. If nothing connects them, that is the reference. Ids are compared only
   * without addresses, because one address has different ids in different systems.
   */
  conflictWith({ name, postal, hasPostal, id, idDomain }: Destination): Destination | undefined {
    if (this.#named && bothDiffer(this.#named.name, name)) return this.#named
    if (this.#reference.hasPostal && hasPostal) {
      const differing = postal.findIndex((part, i) => bothDiffer(this.#postal.get(i)?.postal[i] ?? '', part))
      return this.#postal.get(differing)
    }
    const ids = this.#ids.get(idDomain)
    if (id && ids && !ids.has(id)) return ids.values().next().value
    const isConnected = (this.#named && name) || (this.#ids.size > 0 && id)
    return isConnected ? undefined : this.#reference
  }
}

function bothDiffer(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other
}
