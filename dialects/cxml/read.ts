import type { BuyerDocument, BuyerRequest } from '../buyer-document.ts'
import { FaultList } from '../faults.ts'
import { maxSecretValues } from '../occurrences.ts'
import { attributeOf, find, findAll, type XmlElement } from '../xml-element.ts'
import { readComments } from './annotations.ts'
import { type Envelope, isTest, makeAnswerBasis, readEnvelope, readSender } from './envelope.ts'
import { readOrder } from './order.ts'
import { quoted } from './refusals.ts'
import { findSecrets } from './secrets.ts'
import { makeValues, type Values } from './values.ts'

export function isCxml({ name, namespace }: XmlElement): boolean {
  return name === 'cXML' && namespace === ''
}

/**
 * Reads a cXML document. No text that it returns holds a secret of the document, except the sender's `sharedSecret`.
 * @param source the document as `root` was read from, which the ranges of the secrets refer to
 */
export function readCxml(root: XmlElement, source: string): BuyerDocument {
  const secrets = findSecrets(root, source)
  const values = makeValues(secrets)
  const faults = new FaultList(secrets.maskValue)
  const envelope = readEnvelope(root)
  const header = find(root, 'Request', 'OrderRequest', 'OrderRequestHeader')
  return {
    request: secrets.isOverLimit ? refuseSecrets(root, faults) : readRequest(envelope, values, faults),
    answer: makeAnswerBasis(envelope, header, secrets),
    faults: faults.all,
    secrets: secrets.ranges,
    ...(isTest(root) ? { isTest: true } : {}),
    sender: readSender(root)
  }
}

const unsupported: BuyerRequest = { kind: 'unsupported' }

function refuseSecrets(root: XmlElement, faults: FaultList): BuyerRequest {
  const detail = `The document has more than ${maxSecretValues} different secrets and card numbers. Send only those of the sender and of the payment.`
  faults.add('invalid-value', root, detail)
  return unsupported
}

function readRequest(envelope: Envelope, values: Values, faults: FaultList): BuyerRequest {
  const { root } = envelope
  const bare = findAll(root, 'Request').find(({ children }) => children.length === 0)
  if (bare) {
    faults.add('missing-value', bare, 'The Request is empty. Send an OrderRequest in it.')
    return unsupported
  }
  const requests = findAll(root, 'Request').flatMap(({ children }) => children)
  const [request, second] = requests
  if (request && second) {
    const detail = `The document has ${requests.length} requests. Send a document for each.`
    faults.add('unsupported-document', second, detail)
    return unsupported
  }
  if (request?.local === 'OrderRequest') return readOrderRequest(request, envelope, values, faults)
  if (request?.local === 'ProfileRequest') return { kind: 'profile' }
  return refuseDocument(request ?? find(root, 'Message')?.children[0] ?? find(root, 'Response') ?? root, values, faults)
}

function refuseDocument(element: XmlElement, values: Values, faults: FaultList): BuyerRequest {
  if (element.local === 'cXML') {
    faults.add('missing-value', element, 'The document has no Request. Send a Request with an OrderRequest.')
    return unsupported
  }
  const detail = `The shop does not take ${shortName(element, values)}. Send an OrderRequest or a ProfileRequest.`
  faults.add('unsupported-document', element, detail)
  return unsupported
}

function shortName({ local }: XmlElement, values: Values): string {
  return quoted(local, values).slice(1, -1)
}

function readOrderRequest(request: XmlElement, envelope: Envelope, values: Values, faults: FaultList): BuyerRequest {
  checkMode(envelope.root, values, faults)
  const header = find(request, 'OrderRequestHeader')
  if (!header) {
    faults.add('missing-value', request, 'The OrderRequest has no OrderRequestHeader. Send one with an orderID.')
    return unsupported
  }
  const number = values.attribute(header, 'orderID')
  if (!number) faults.add('missing-value', header, 'The OrderRequestHeader has no orderID. Send the number of your order.')
  const written = attributeOf(header, 'type') ?? 'new'
  const type = written.toLowerCase()
  const revision = values.attribute(header, 'orderVersion')
  const revised = revision ? { revision } : {}
  if (type === 'delete') {
    if (!number) return unsupported
    const [reason] = readComments(header, values)
    return { kind: 'cancel', number, ...revised, ...(reason ? { reason } : {}) }
  }
  const order = readOrder(request, header, envelope, values, faults)
  // No DTD has "change", but SAP sends it.
  if (number && (type === 'update' || type === 'change')) return { kind: 'replace', number, ...revised, order, placesUnknown: true }
  if (type !== 'new' && type !== 'update' && type !== 'change') {
    const detail = `The type ${quoted(written, values)} is not known. Send "new", "update" or "delete".`
    faults.add('unknown-order-type', header, detail, { attribute: 'type' })
  }
  return { kind: 'place', ...revised, order }
}

/** An order in an unknown mode may be a test, which must not be placed. */
function checkMode(root: XmlElement, values: Values, faults: FaultList): void {
  for (const request of findAll(root, 'Request')) {
    const mode = attributeOf(request, 'deploymentMode') ?? 'production'
    if (['production', 'test'].includes(mode.toLowerCase())) continue
    const detail = `The deploymentMode ${quoted(mode, values)} is not known. Send "production" or "test".`
    faults.add('invalid-value', request, detail, { attribute: 'deploymentMode' })
  }
}
