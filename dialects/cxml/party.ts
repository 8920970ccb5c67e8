import { defined } from '../../domain/defined.ts'
import type { AddressDraft, PartyDraft, Sourced } from '../buyer-document.ts'
import { find, findAll, type XmlElement } from '../xml-element.ts'
import type { Values } from './values.ts'

/**
 * The party of a ShipTo or a BillTo.
 * @param named another element of the same address, whose name counts if this one has none
 */
export function readAddressee(element: XmlElement | undefined, values: Values, named?: XmlElement): PartyDraft | undefined {
  const address = find(element, 'Address')
  const party = element && address && readParty(element, address, values)
  const name = values.text(find(named, 'Address', 'Name'))
  return party && name && !party.name ? { ...party, name } : party
}

/** The roles of a Contact that is the buyer, the most specific first. */
const buyerRoles = ['buyer', 'purchasingagent', 'enduser']

/** The first Contact that is the buyer, else the name of the BillTo. */
export function readBuyer(header: XmlElement, values: Values): PartyDraft | undefined {
  const contacts = findAll(header, 'Contact')
  for (const role of buyerRoles) {
    const contact = contacts.find(({ attributes }) => attributes['role']?.trim().toLowerCase() === role)
    const party = contact && readParty(contact, contact, values)
    if (party) return party
  }
  const billTo = find(header, 'BillTo')
  const name = values.text(find(billTo, 'Address', 'Name'))
  return billTo && name && { from: billTo, name }
}

/** @param holder the element with Name, PostalAddress, Email and Phone. @returns undefined when all of these are empty */
function readParty(from: XmlElement, holder: XmlElement, values: Values): PartyDraft | undefined {
  const party = defined({
    name: values.text(find(holder, 'Name')),
    contact: values.joined(findAll(find(holder, 'PostalAddress'), 'DeliverTo'), ', '),
    email: values.text(firstEmail(holder, values)),
    phone: readPhone(holder, values),
    address: readAddress(holder, values)
  })
  return Object.keys(party).length > 0 ? { from, ...party } : undefined
}

/** A Contact may have several e-mail addresses, of which some are empty. */
function firstEmail(holder: XmlElement, values: Values): XmlElement | undefined {
  return findAll(holder, 'Email').find((element) => values.text(element))
}

/** Without a number there is no phone: SAP sends a country code alone, or a `+`. */
function readPhone(holder: XmlElement, values: Values): Sourced | undefined {
  for (const phone of findAll(holder, 'Phone')) {
    const number = find(phone, 'TelephoneNumber')
    if (!/\d/.test(values.text(find(number, 'Number'))?.text ?? '')) continue
    const parts = ['CountryCode', 'AreaOrCityCode', 'Number', 'Extension'].map((local) => find(number, local))
    return values.joined(parts, ' ')
  }
}

function readAddress(holder: XmlElement, values: Values): AddressDraft | undefined {
  const postal = find(holder, 'PostalAddress')
  const [street, ...otherStreets] = findAll(postal, 'Street').filter((element) => values.text(element))
  const address = defined({
    street: values.text(street),
    additionalStreet: values.joined(otherStreets, ', '),
    city: values.text(find(postal, 'City')),
    postalCode: values.text(find(postal, 'PostalCode')),
    region: values.text(find(postal, 'State')) ?? values.text(find(postal, 'Municipality')),
    country: values.attribute(find(postal, 'Country'), 'isoCountryCode') ?? values.attribute(holder, 'isoCountryCode')
  })
  return Object.keys(address).length > 0 ? address : undefined
}
