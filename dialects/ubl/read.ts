import { defined } from '../../domain/defined.ts'
import { shorten } from '../../schemas/shorten.ts'
import { afterSection, match } from '../../xml/tag-syntax.ts'
import type { BuyerDocument, BuyerRequest, OrderDraft, Sourced, UblAnswerBasis } from '../buyer-document.ts'
import { FaultList } from '../faults.ts'
import { maxSecretValues } from '../occurrences.ts'
import { find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'
import { readDelivery } from './deliveries.ts'
import { checkAllowances, refuseRepeated } from './faults.ts'
import { headerExtensions, headerNotes, readCurrency, refuseOtherTypes } from './header.ts'
import { type LineDraft, readLines } from './lines.ts'
import { identityOf, partyOf, repeatable } from './parties.ts'
import { profileOf } from './peppol.ts'
import { findCards } from './secrets.ts'
import { isTrue, joined, valueAt, valuesOf } from './values.ts'

type DocumentName = UblAnswerBasis['document']

const documents: Readonly<Record<DocumentName, string>> = {
  Order: 'urn:oasis:names:specification:ubl:schema:xsd:Order-2',
  OrderChange: 'urn:oasis:names:specification:ubl:schema:xsd:OrderChange-2',
  OrderCancellation: 'urn:oasis:names:specification:ubl:schema:xsd:OrderCancellation-2'
}

const envelope = 'http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader'

function nameOf({ local, namespace }: XmlElement): DocumentName | undefined {
  const name = Object.keys(documents).find((one): one is DocumentName => one === local)
  return name && documents[name] === namespace ? name : undefined
}

/** The local names of roots that can be a document of UBL. Their namespaces decide. */
export const ublRoots: readonly string[] = [...Object.keys(documents), 'StandardBusinessDocument']

/** The document itself, which may be in the envelope of an access point. */
function documentIn(root: XmlElement): XmlElement | undefined {
  if (nameOf(root)) return root
  if (root.local !== 'StandardBusinessDocument' || root.namespace !== envelope) return undefined
  const [content, ...others] = root.children.filter(({ namespace }) => namespace !== envelope)
  return content && nameOf(content) && others.length === 0 ? content : undefined
}

/** Whether a root is a UBL 2 Order, OrderChange or OrderCancellation, or a StandardBusinessDocument around exactly one of them. */
export function isUbl(root: XmlElement): boolean {
  return documentIn(root) !== undefined
}

/**
 * Reads a UBL document. Values are as written: `buildPurchaseOrder` checks their form.
 * @param source the text that the offsets of the elements' tags refer to
 * @throws Error for a root that `isUbl` refuses
 */
export function readUbl(root: XmlElement, source: string): BuyerDocument {
  const found = documentIn(root)
  const name = found && nameOf(found)
  if (!name) throw new Error('the document is not one of UBL')
  const cards = findCards(root, source)
  const document = cards.masked(found)
  const faults = new FaultList()
  if (cards.isOverLimit) {
    faults.add('invalid-value', document, `The document has more than ${maxSecretValues} card numbers. Send only that of the payment.`)
  }
  refuseRepeated(document, 'document', faults)
  const request = readers[name](document, faults)
  return {
    request,
    answer: answerBasis(document, name, request),
    faults: faults.all,
    secrets: cards.ranges,
    ...(isTest(source) ? { isTest: true } : {})
  }
}

const testMark = /<\?TestInstance(?=[ \t\r\n]|\?>)/y

/** OIOUBL, the Danish UBL, marks a document that is only a test with the processing instruction TestInstance. */
function isTest(source: string): boolean {
  for (let at = source.indexOf('<'); at !== -1; at = source.indexOf('<', afterSection(source, at) ?? at + 1)) {
    if (match(testMark, source, at)) return true
  }
  return false
}

const readers: Readonly<Record<DocumentName, (document: XmlElement, faults: FaultList) => BuyerRequest>> = {
  Order: readOrder,
  OrderChange: readChange,
  OrderCancellation: readCancellation
}

/**
 * The order of the whole document. Deleted lines are in it, because the change names them.
 * @param isByLine whether the document has only the lines that change
 */
function readDraft(
  document: XmlElement,
  orderNumber: Sourced | undefined,
  lines: readonly LineDraft[],
  faults: FaultList,
  isByLine = false
): OrderDraft {
  const buyer = partyOf(find(document, 'BuyerCustomerParty', 'Party'))
  const kept = lines.filter(({ change }) => change !== 'deleted')
  const { shipTo, date, extensions, ofLines } = readDelivery(document, kept, isByLine ? undefined : buyer?.address, faults)
  const charges = checkAllowances(document, faults)
  return {
    from: document,
    orderNumber,
    issueDate: valueAt(document, 'OrderReference', 'IssueDate') ?? valueAt(document, 'IssueDate'),
    currency: readCurrency(document, kept, faults),
    buyer,
    shipTo,
    billTo: partyOf(find(document, 'AccountingCustomerParty', 'Party')),
    requestedDeliveryDate: date,
    notes: [...headerNotes(document), ...charges],
    extensions: [...headerExtensions(document), ...extensions],
    items: lines.map(({ item, lineItem }) => (isByLine ? { ...item, destination: ofLines.get(lineItem) } : item))
  }
}

/** An Italian public order refers to another one by number, date, endpoint and its new state, such as `12#2026-11-20#ABC#Revised`. */
const reference = /^([^#]*)#(?:.*#)?\s*(revised|cancelled|canceled)$/is

interface Succession {
  readonly kind: 'revised' | 'cancelled'
  readonly number: Sourced
}

/** The order that an Order revises or cancels by its OrderDocumentReference. */
function successionOf(order: XmlElement, faults: FaultList): Succession | undefined {
  const found = valuesOf(order, 'OrderDocumentReference', 'ID').flatMap(({ text, from }): readonly Succession[] => {
    const [, number = '', state = ''] = reference.exec(text) ?? []
    const kind = state.toLowerCase() === 'revised' ? 'revised' : 'cancelled'
    if (state !== '' && number.trim() === '') {
      const detail = `OrderDocumentReference/ID does not say which order is ${kind}. Write its number before the first #.`
      faults.add('missing-value', from, detail)
    }
    return state === '' ? [] : [{ kind, number: { text: number.trim(), from } }]
  })
  const [first] = found
  const other = found.find(({ kind, number }) => kind !== first?.kind || number.text !== first.number.text)
  if (other) {
    const detail = 'The order revises or cancels several others. Send a document for each order that you revise or cancel.'
    faults.add('invalid-value', other.number.from, detail)
  }
  return first
}

/** The CopyIndicator of a document that says that it is a copy. */
function copyOf(document: XmlElement, faults: FaultList): XmlElement | undefined {
  const copy = find(document, 'CopyIndicator')
  const text = trimmedText(copy) ?? 'false'
  if (copy && !isTrue(copy) && !/^(false|0)$/i.test(text)) {
    faults.add('invalid-value', copy, `CopyIndicator is ${shorten(text)}, which is neither true nor false. Send false for an original.`)
  }
  return isTrue(copy) ? copy : undefined
}

/** A balance of what is left of an order uses the document type Order, but orders nothing. */
const otherCustomization = /:order_balance:/

function readOrder(order: XmlElement, faults: FaultList): BuyerRequest {
  const customization = find(order, 'CustomizationID')
  if (customization && otherCustomization.test(trimmedText(customization) ?? '')) {
    faults.add('unsupported-document', customization, 'The document is an order balance, which orders nothing. Send an Order.')
    return { kind: 'unsupported' }
  }
  const succession = successionOf(order, faults)
  if (succession?.number.text === '') return { kind: 'unsupported' }
  const notes = () => joined(valuesOf(order, 'Note'), '\n')
  if (succession?.kind === 'cancelled') return { kind: 'cancel', number: succession.number, reason: notes() }
  const id = valueAt(order, 'ID')
  if (!id) faults.add('missing-value', find(order, 'ID') ?? order, 'The order has no ID. Send the number that you gave the order.')
  refuseOtherTypes(order, faults)
  const draft = readDraft(order, id, readLines(order, false, faults), faults)
  if (copyOf(order, faults)) return { kind: 'place', order: draft, copies: true }
  return succession ? { kind: 'replace', number: succession.number, order: draft } : { kind: 'place', order: draft }
}

/** The number of the order that a change or a cancellation is about. */
function referredOrder(document: XmlElement, faults: FaultList): Sourced | undefined {
  const references = findAll(document, 'OrderReference')
  const ids = references.flatMap((one) => valueAt(one, 'ID') ?? [])
  const [first] = ids
  const other = ids.find(({ text }) => text !== first?.text)
  if (!first) {
    const detail = 'The document does not say which order it is about. Send the number of the order in OrderReference/ID.'
    faults.add('missing-value', find(document, 'OrderReference', 'ID') ?? references[0] ?? document, detail)
  }
  if (other) {
    const detail = `The document is about the orders ${shorten(first?.text ?? '')} and ${shorten(other.text)}. Send a document for each order.`
    faults.add('invalid-value', other.from, detail)
  }
  return first
}

function readChange(change: XmlElement, faults: FaultList): BuyerRequest {
  const number = referredOrder(change, faults)
  const copy = copyOf(change, faults)
  if (copy) {
    const detail =
      'The document is a copy (CopyIndicator), and copies change nothing. Send the OrderChange itself, with CopyIndicator false.'
    faults.add('unsupported-document', copy, detail)
  }
  const isByLine = findAll(change, 'OrderLine').some((line) => trimmedText(find(line, 'LineItem', 'LineStatusCode')) !== undefined)
  refuseOtherTypes(change, faults)
  const drafts = readLines(change, isByLine, faults)
  const order = readDraft(change, number, drafts, faults, isByLine)
  const revision = valueAt(change, 'SequenceNumberID')
  if (!number) return { kind: 'unsupported' }
  if (!isByLine) return { kind: 'replace', number, revision, order }
  const lines = order.items.flatMap((item, i) => {
    const kind = drafts[i]?.change
    return kind ? [{ kind, item }] : []
  })
  // Both elements describe the kind of document. The order keeps those of the document that placed it.
  const extensions = order.extensions.filter(({ name }) => name !== 'CustomizationID' && name !== 'ProfileID')
  return { kind: 'change-lines', number, revision, order: { ...order, extensions }, lines }
}

/** A copy of a cancellation also cancels, because the buyer does not want the order in either case. */
function readCancellation(cancellation: XmlElement, faults: FaultList): BuyerRequest {
  const number = referredOrder(cancellation, faults)
  const reason = joined([...valuesOf(cancellation, 'CancellationNote'), ...valuesOf(cancellation, 'Note')], '\n')
  return number ? { kind: 'cancel', number, reason } : { kind: 'unsupported' }
}

function orderNumberOf(document: XmlElement, name: DocumentName, request: BuyerRequest): string | undefined {
  if (request.kind === 'cancel' || (name !== 'Order' && request.kind !== 'unsupported')) {
    return 'number' in request ? request.number.text : undefined
  }
  return trimmedText(name === 'Order' ? find(document, 'ID') : find(document, 'OrderReference', 'ID'))
}

function answerBasis(document: XmlElement, name: DocumentName, request: BuyerRequest): UblAnswerBasis {
  return {
    vocabulary: 'ubl',
    document: name,
    ...defined({
      profile: profileOf(trimmedText(find(document, 'CustomizationID')), trimmedText(find(document, 'ProfileID'))),
      orderNumber: orderNumberOf(document, name, request),
      changeId: name === 'Order' ? undefined : repeatable(find(document, 'ID')),
      customerReference: repeatable(find(document, 'CustomerReference')),
      seller: identityOf(find(document, 'SellerSupplierParty', 'Party')),
      buyer: identityOf(find(document, 'BuyerCustomerParty', 'Party'))
    })
  }
}
