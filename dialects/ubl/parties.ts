import { addressKey as keyOf } from '../../domain/addresses.ts'
import { defined } from '../../domain/defined.ts'
import type { AddressDraft, PartyDraft, PartyIdentity } from '../buyer-document.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'
import { joined, valueAt, valuesOf } from './values.ts'

/** A PostalAddress, a DeliveryAddress or an Address. Undefined if the shop has no element for any part of it. */
export function addressOf(element: XmlElement | undefined): AddressDraft | undefined {
  if (!element) return undefined
  const address = {
    street: joined([valueAt(element, 'StreetName'), valueAt(element, 'BuildingNumber')], ' '),
    additionalStreet: joined([valueAt(element, 'AdditionalStreetName'), ...valuesOf(element, 'AddressLine', 'Line')], ', '),
    city: valueAt(element, 'CityName'),
    postalCode: valueAt(element, 'PostalZone'),
    region: valueAt(element, 'CountrySubentity'),
    country: valueAt(element, 'Country', 'IdentificationCode')
  }
  return Object.values(address).some((value) => value !== undefined) ? address : undefined
}

/** A text that is equal for equal addresses. */
export function addressKey(address: AddressDraft): string {
  return keyOf((name) => address[name]?.text)
}

/** A Party. Undefined if the shop has no element for any part of it. */
export function partyOf(from: XmlElement | undefined): PartyDraft | undefined {
  if (!from) return undefined
  const party = {
    name: valuesOf(from, 'PartyName', 'Name')[0] ?? valuesOf(from, 'PartyLegalEntity', 'RegistrationName')[0],
    contact: valueAt(from, 'Contact', 'Name'),
    email: valueAt(from, 'Contact', 'ElectronicMail'),
    phone: valueAt(from, 'Contact', 'Telephone'),
    taxId: valuesOf(from, 'PartyTaxScheme', 'CompanyID')[0] ?? valuesOf(from, 'PartyLegalEntity', 'CompanyID')[0],
    address: addressOf(find(from, 'PostalAddress'))
  }
  return Object.values(party).some((value) => value !== undefined) ? { from, ...party } : undefined
}

/** Longer names and identifiers are not kept for the answer. UBL sets no limit; the parties' registers stay far below this. */
const maxRepeated = 256

/** A text that the answer repeats. Undefined for one that is absent, empty or too long to keep. */
export function repeatable(element: XmlElement | undefined): string | undefined {
  const text = trimmedText(element)
  return text !== undefined && text.length <= maxRepeated ? text : undefined
}

type Identifier = NonNullable<PartyIdentity['endpoint']>

function identifierOf(element: XmlElement | undefined): Identifier | undefined {
  const id = repeatable(element)
  const scheme = attributeOf(element, 'schemeID')
  return id === undefined ? undefined : { id, ...(scheme !== undefined && scheme.length <= maxRepeated ? { scheme } : {}) }
}

const maxIdentifications = 10

/** The name and the identifiers of a Party, which an answer repeats. Undefined for a party without any. */
export function identityOf(party: XmlElement | undefined): PartyIdentity | undefined {
  const endpoint = identifierOf(find(party, 'EndpointID'))
  const identifications = findAll(party, 'PartyIdentification')
    .flatMap((one) => identifierOf(find(one, 'ID')) ?? [])
    .slice(0, maxIdentifications)
  const name =
    repeatable(valuesOf(party, 'PartyLegalEntity', 'RegistrationName')[0]?.from) ??
    repeatable(valuesOf(party, 'PartyName', 'Name')[0]?.from)
  if (!endpoint && identifications.length === 0 && name === undefined) return undefined
  return defined({ endpoint, identifications, registrationName: name })
}
