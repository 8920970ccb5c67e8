import { defined } from '../../domain/defined.ts'
import type { CxmlAnswerBasis, CxmlSender } from '../buyer-document.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'
import type { Secrets } from './secrets.ts'

/** A Credential with a domain and an Identity. */
export interface Credential {
  readonly element: XmlElement
  readonly domain: string
  readonly identity: string
}

/** The parts of a cXML document outside its request. */
export interface Envelope {
  readonly root: XmlElement
  readonly from: Credential | undefined
  readonly to: Credential | undefined
}

export function readEnvelope(root: XmlElement): Envelope {
  const header = find(root, 'Header')
  return { root, from: readCredential(find(header, 'From')), to: readCredential(find(header, 'To')) }
}

/** The first Credential with a domain and an Identity: a party may have several. */
function readCredential(party: XmlElement | undefined): Credential | undefined {
  for (const element of findAll(party, 'Credential')) {
    const domain = attributeOf(element, 'domain')
    const identity = trimmedText(find(element, 'Identity'))
    if (domain !== undefined && identity !== undefined) return { element, domain, identity }
  }
}

/** The first SharedSecret of the Sender. */
export function readSender(root: XmlElement): CxmlSender {
  const secrets = findAll(find(root, 'Header', 'Sender'), 'Credential').map((credential) => trimmedText(find(credential, 'SharedSecret')))
  return defined({ sharedSecret: secrets.find((secret) => secret !== undefined) })
}

/** Whether the document is only a test. */
export function isTest(root: XmlElement): boolean {
  return findAll(root, 'Request').some((request) => attributeOf(request, 'deploymentMode')?.toLowerCase() === 'test')
}

/** @param header the OrderRequestHeader */
export function makeAnswerBasis({ root, from, to }: Envelope, header: XmlElement | undefined, { maskValue }: Secrets): CxmlAnswerBasis {
  const masked = (element: XmlElement | undefined, name: string) => {
    const value = attributeOf(element, name)
    return value === undefined ? undefined : maskValue(value)
  }
  const party = (credential: Credential | undefined) =>
    credential && { domain: maskValue(credential.domain), identity: maskValue(credential.identity) }
  return {
    vocabulary: 'cxml',
    ...defined({
      payloadId: masked(root, 'payloadID'),
      version: masked(root, 'version'),
      orderNumber: masked(header, 'orderID'),
      orderDate: masked(header, 'orderDate'),
      from: party(from),
      to: party(to)
    })
  }
}
