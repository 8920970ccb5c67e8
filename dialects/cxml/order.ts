import { defined } from '../../domain/defined.ts'
import { messageId } from '../../domain/placing.ts'
import type { ExtensionDraft, OrderDraft, Sourced } from '../buyer-document.ts'
import type { FaultList } from '../faults.ts'
import { attributeOf, find, findAll, type XmlElement } from '../xml-element.ts'
import { extension, readCharges, readComments, readExtrinsics } from './annotations.ts'
import { findDestination, type NumberedLine, personOf } from './delivery.ts'
import type { Envelope } from './envelope.ts'
import { readItem } from './item.ts'
import { readAddressee, readBuyer } from './party.ts'
import { checkHeader, checkLine, findCurrency } from './refusals.ts'
import type { Values } from './values.ts'

/** Reads an order with its lines. Parts that the shop does not support become faults. */
export function readOrder(request: XmlElement, header: XmlElement, envelope: Envelope, values: Values, faults: FaultList): OrderDraft {
  checkHeader(header, values, faults)
  const lines = orderedLines(request, values, faults)
  for (const line of lines) checkLine(line, faults)
  const destination = findDestination(header, lines, faults)
  const shipTo = destination?.shipTo
  const person = personOf(shipTo)
  const total = find(header, 'Total')
  return {
    from: request,
    ...defined({
      orderNumber: values.attribute(header, 'orderID'),
      issueDate: values.attribute(header, 'orderDate'),
      currency: values.attribute(findCurrency(lines, values, faults) ?? find(total, 'Money'), 'currency'),
      buyer: readBuyer(header, values),
      shipTo: readAddressee(shipTo, values, destination?.named),
      billTo: readAddressee(find(header, 'BillTo'), values),
      requestedDeliveryDate: values.attribute(header, 'requestedDeliveryDate')
    }),
    notes: [...readComments(header, values), ...readPayment(header, values), ...readCharges(total, values)],
    extensions: [...readIdentifiers(header, shipTo, envelope, values), ...readExtrinsics(header, values)],
    items: lines.map((line) => readItem(line, person, values))
  }
}

/** The lines without those that the buyer deletes (SAP sends them once more, with operation="delete"). */
function orderedLines(request: XmlElement, values: Values, faults: FaultList): readonly NumberedLine[] {
  const all = findAll(request, 'ItemOut')
  const lines = all
    .map((element, i) => ({ element, number: values.attribute(element, 'lineNumber')?.text ?? String(i + 1) }))
    .filter(({ element }) => attributeOf(element, 'operation')?.toLowerCase() !== 'delete')
  if (lines.length === 0) {
    const detail =
      all.length === 0
        ? 'The OrderRequest has no ItemOut. Send at least one line.'
        : 'All lines have operation="delete". To cancel the order, send it with type="delete".'
    faults.add('missing-value', request, detail)
  }
  return lines
}

/** The number of the card is never read: the shop does not charge cards. */
function readPayment(header: XmlElement, values: Values): readonly Sourced[] {
  const card = find(header, 'Payment', 'PCard')
  return card ? [values.prose('Payment/PCard: to be paid by card', card)] : []
}

const keptAttributes = ['orderVersion', 'requisitionID', 'agreementID', 'effectiveDate', 'shipComplete']

function readIdentifiers(
  header: XmlElement,
  shipTo: XmlElement | undefined,
  { root, from, to }: Envelope,
  values: Values
): readonly ExtensionDraft[] {
  const addresses = [shipTo, find(header, 'BillTo')].map((party) => find(party, 'Address'))
  return [
    ...extension(messageId, attributeOf(root, 'payloadID'), root, values),
    ...extension('from', from && `${from.domain}:${from.identity}`, from?.element, values),
    ...extension('to', to && `${to.domain}:${to.identity}`, to?.element, values),
    ...keptAttributes.flatMap((name) => extension(name, attributeOf(header, name), header, values)),
    ...addresses.flatMap((address, i) =>
      extension(i === 0 ? 'ShipTo addressID' : 'BillTo addressID', attributeOf(address, 'addressID'), address, values)
    )
  ]
}
