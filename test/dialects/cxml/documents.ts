import type { BuyerDocument, OrderDraft, Sourced } from '../../../dialects/buyer-document.ts'
import { blankDoctype } from '../../../dialects/cxml/doctype.ts'
import { readCxml } from '../../../dialects/cxml/read.ts'
import { readElements } from '../../../dialects/xml-element.ts'
import { guard } from '../../../xml/guard.ts'

export const doctype = '<!DOCTYPE cXML SYSTEM "http://xml.cxml.org/schemas/cXML/1.2.045/cXML.dtd">'

/** The parts of an order that a test changes. The rest is an order of one line that the shop takes. */
export interface Changes {
  readonly request?: string
  readonly secret?: string
  readonly attributes?: string
  readonly header?: string
  readonly items?: string
}

const shipTo = (street: string, more = '') =>
  `<ShipTo><Address addressID="12" isoCountryCode="DE"><Name xml:lang="en">Plant North</Name>
    <PostalAddress>${more}<Street>${street}</Street><City>Hamburg</City><PostalCode>20095</PostalCode><Country isoCountryCode="DE">Germany</Country></PostalAddress>
  </Address></ShipTo>`

export { shipTo }

interface LineChanges {
  readonly attributes?: string
  readonly id?: string
  readonly price?: string
  readonly unit?: string
  readonly detail?: string
  readonly rest?: string
}

export function line({ attributes = 'lineNumber="1" quantity="2"', id, price, unit = 'EA', detail = '', rest = '' }: LineChanges = {}) {
  return `<ItemOut ${attributes}>
    <ItemID>${id ?? '<SupplierPartID>BOLT-8</SupplierPartID>'}</ItemID>
    <ItemDetail>
      <UnitPrice>${price ?? '<Money currency="EUR">9.50</Money>'}</UnitPrice>
      <Description xml:lang="en">Bolts</Description>
      <UnitOfMeasure>${unit}</UnitOfMeasure>${detail}
    </ItemDetail>${rest}
  </ItemOut>`
}

export function envelope(content: string, secret = '<SharedSecret>tp_0123456789abcdef</SharedSecret>'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
${doctype}
<cXML payloadID="1664.77@buyer.example" timestamp="2026-04-20T09:00:00+02:00" version="1.2.045" xml:lang="en">
<Header>
<From><Credential domain="NetworkId"><Identity>AN01-BUYER</Identity></Credential></From>
<To><Credential domain="DUNS"><Identity>123456789</Identity></Credential></To>
<Sender><Credential domain="NetworkId"><Identity>AN01-HUB</Identity>${secret}</Credential><UserAgent>Test</UserAgent></Sender>
</Header>
${content}
</cXML>
`
}

export function order({ request = '', secret, attributes = '', header = '', items = line() }: Changes = {}): string {
  return envelope(
    `<Request${request}><OrderRequest>
<OrderRequestHeader orderID="PO-7" orderDate="2026-04-20T23:30:00-07:00"${attributes}>
<Total><Money currency="EUR">19.00</Money></Total>
${header}
</OrderRequestHeader>
${items}
</OrderRequest></Request>`,
    secret
  )
}

export function read(xml: string): BuyerDocument {
  const { source, tags } = guard(blankDoctype(Buffer.from(xml)).bytes)
  return readCxml(readElements({ source, tags }), source)
}

export function draftOf(document: BuyerDocument): OrderDraft {
  if (!('order' in document.request)) throw new Error(`${document.request.kind} has no order`)
  return document.request.order
}

/** A draft without the elements that its values are from. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if ('text' in value && 'from' in value) return (value as Sourced).text
  return Object.fromEntries(Object.entries(value).flatMap(([key, held]) => (key === 'from' ? [] : [[key, plain(held)]])))
}

/** The codes of the faults, each with the buyer's number of its line. */
export function codes(document: BuyerDocument): readonly string[] {
  return document.faults.map(({ code, item }) => (item === undefined ? code : `${code} ${item}`))
}
