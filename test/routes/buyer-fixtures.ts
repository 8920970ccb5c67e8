/** Documents of buyers' systems, valid as they are, and the requests that send them. */

import type { LightMyRequestResponse } from 'fastify'
import { decimal } from '../../domain/money.ts'
import type { ProductDraft } from '../../domain/product.ts'
import type { Shop } from '../build.ts'

/** The products that the documents order. */
export const products: Readonly<Record<string, Partial<ProductDraft>>> = {
  'BOLT-8': { price: decimal('9.50') },
  'PAINT-1': { price: decimal('4.00'), unit: 'KGM', gtin: '4006381333931' },
  'SCREW-3': { price: decimal('0.0125'), onHand: decimal('100000') }
}

const namespaces = [
  'xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"',
  'xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"'
].join(' ')

type UblName = 'Order' | 'OrderChange' | 'OrderCancellation'

/** A UBL document with one element a line. */
export function ubl(name: UblName, ...content: readonly string[]): string {
  const root = `<${name} xmlns="urn:oasis:names:specification:ubl:schema:xsd:${name}-2" ${namespaces}>`
  return ['<?xml version="1.0" encoding="UTF-8"?>', root, ...content, `</${name}>`, ''].join('\n')
}

interface UblLine {
  readonly id?: string
  /** The seller's id. */
  readonly product?: string
  readonly gtin?: string
  readonly quantity?: string
  readonly unit?: string
  readonly price?: string
  readonly currency?: string
  /** The element BaseQuantity. */
  readonly base?: string
  readonly status?: string
  /** Elements before the item. */
  readonly more?: string
  /** Elements of the item. */
  readonly item?: string
}

export function ublLine(given: UblLine = {}): string {
  const { id = '1', product = 'BOLT-8', gtin, quantity = '2', unit = 'C62', price = '9.50', currency = 'EUR', base = '', status } = given
  const named = [
    product === '' ? '' : `<cac:SellersItemIdentification><cbc:ID>${product}</cbc:ID></cac:SellersItemIdentification>`,
    gtin === undefined ? '' : `<cac:StandardItemIdentification><cbc:ID schemeID="0160">${gtin}</cbc:ID></cac:StandardItemIdentification>`
  ]
  return [
    '<cac:OrderLine>',
    '<cac:LineItem>',
    `<cbc:ID>${id}</cbc:ID>`,
    ...(status === undefined ? [] : [`<cbc:LineStatusCode>${status}</cbc:LineStatusCode>`]),
    quantity === '' ? '' : `<cbc:Quantity unitCode="${unit}">${quantity}</cbc:Quantity>`,
    given.more ?? '',
    price === '' ? '' : `<cac:Price><cbc:PriceAmount currencyID="${currency}">${price}</cbc:PriceAmount>${base}</cac:Price>`,
    `<cac:Item>${given.item ?? ''}${named.join('')}</cac:Item>`,
    '</cac:LineItem>',
    '</cac:OrderLine>'
  ].join('\n')
}

interface UblOrder {
  readonly number?: string
  /** Elements before the ID. */
  readonly first?: string
  /** Elements after the ID. */
  readonly header?: string
  readonly lines?: readonly string[]
}

export function ublOrder({ number = 'PO-7', first = '', header = '', lines = [ublLine()] }: UblOrder = {}): string {
  return ubl('Order', first, `<cbc:ID>${number}</cbc:ID>`, header, ...lines)
}

interface UblChange extends UblOrder {
  readonly sequence?: string
}

export function ublChange({ number = 'PO-7', sequence, header = '', lines = [] }: UblChange = {}): string {
  return ubl(
    'OrderChange',
    '<cbc:ID>CH-1</cbc:ID>',
    sequence === undefined ? '' : `<cbc:SequenceNumberID>${sequence}</cbc:SequenceNumberID>`,
    header,
    `<cac:OrderReference><cbc:ID>${number}</cbc:ID></cac:OrderReference>`,
    ...lines
  )
}

export function ublCancellation(number = 'PO-7'): string {
  return ubl(
    'OrderCancellation',
    '<cbc:ID>CA-1</cbc:ID>',
    '<cbc:CancellationNote>No longer needed</cbc:CancellationNote>',
    `<cac:OrderReference><cbc:ID>${number}</cbc:ID></cac:OrderReference>`
  )
}

/** An allowance of 5 EUR, which is refused. */
export const ublAllowance =
  '<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator><cbc:Amount currencyID="EUR">5</cbc:Amount></cac:AllowanceCharge>'

export const doctype = '<!DOCTYPE cXML SYSTEM "http://xml.cxml.org/schemas/cXML/1.2.045/cXML.dtd">'

interface CxmlEnvelope {
  readonly payloadId?: string
  readonly secret?: string | undefined
  readonly doctype?: string
}

export function cxmlEnvelope(content: string, { payloadId = '77.1@buyer.example', secret, doctype: own = doctype }: CxmlEnvelope = {}) {
  return `<?xml version="1.0" encoding="UTF-8"?>
${own}
<cXML payloadID="${payloadId}" timestamp="2026-04-20T09:00:00+02:00" version="1.2.045" xml:lang="en">
<Header>
<From><Credential domain="NetworkId"><Identity>AN01-BUYER</Identity></Credential></From>
<To><Credential domain="DUNS"><Identity>123456789</Identity></Credential></To>
<Sender><Credential domain="NetworkId"><Identity>AN01-HUB</Identity>${secret === undefined ? '' : `<SharedSecret>${secret}</SharedSecret>`}</Credential><UserAgent>Test</UserAgent></Sender>
</Header>
${content}
</cXML>
`
}

interface CxmlLine {
  readonly number?: string
  readonly product?: string
  readonly quantity?: string
  readonly unit?: string
  readonly price?: string
  readonly currency?: string
  readonly attributes?: string
  readonly detail?: string
  readonly rest?: string
}

export function cxmlLine(given: CxmlLine = {}): string {
  const { number = '1', product = 'BOLT-8', quantity = '2', unit = 'EA', price = '9.50', currency = 'EUR', attributes = '' } = given
  return `<ItemOut lineNumber="${number}" quantity="${quantity}"${attributes}>
<ItemID><SupplierPartID>${product}</SupplierPartID></ItemID>
<ItemDetail>
<UnitPrice><Money currency="${currency}">${price}</Money></UnitPrice>
<Description xml:lang="en">Bolts</Description>
<UnitOfMeasure>${unit}</UnitOfMeasure>${given.detail ?? ''}
</ItemDetail>${given.rest ?? ''}
</ItemOut>`
}

interface CxmlOrder extends CxmlEnvelope {
  readonly number?: string
  /** Attributes of the Request. */
  readonly request?: string
  /** Attributes of the OrderRequestHeader. */
  readonly attributes?: string
  /** Elements of the OrderRequestHeader. */
  readonly header?: string
  readonly lines?: readonly string[]
}

export function cxmlOrder(given: CxmlOrder = {}): string {
  const { number = 'PO-7', request = '', attributes = '', header = '', lines = [cxmlLine()] } = given
  return cxmlEnvelope(
    `<Request${request}><OrderRequest>
<OrderRequestHeader orderID="${number}" orderDate="2026-04-20T23:30:00-07:00"${attributes}>
<Total><Money currency="EUR">19.00</Money></Total>
${header}
</OrderRequestHeader>
${lines.join('\n')}
</OrderRequest></Request>`,
    given
  )
}

type Headers = Readonly<Record<string, string>>

/** Sends a document to `POST /order`. */
export function send({ app }: Shop, payload: string | Buffer, headers: Headers = {}): Promise<LightMyRequestResponse> {
  return app.inject({ method: 'POST', url: '/order', headers: { 'content-type': 'application/xml', ...headers }, payload })
}

/** The key that a header field shows, as a cXML document has it. */
export function secretOf({ authorization }: { authorization: string }): string {
  return authorization.slice('Bearer '.length)
}

/** The code and the Notes of an OrderResponse. */
export function ublAnswer({ body }: { body: string }): { readonly code: string | undefined; readonly notes: readonly string[] } {
  const notes = [...body.matchAll(/<cbc:Note>([^<]*)<\/cbc:Note>/g)].map(([, note = '']) => note)
  return { code: /<cbc:OrderResponseCode>(\w+)</.exec(body)?.[1], notes }
}

/** The code and the text of a cXML Response. */
export function cxmlAnswer({ body }: { body: string }): readonly [code: string | undefined, text: string] {
  const [, code, text = ''] = /<Status code="(\d+)"[^>]*>([^<]*)</.exec(body) ?? []
  return [code, text]
}

export async function onHand({ store }: Shop, id = 'BOLT-8'): Promise<string> {
  return (await store.stock(id)).onHand
}

export async function orderCount({ store }: Shop): Promise<number> {
  return (await store.orders({ limit: 200 })).items.length
}

/** An order in JSON. */
export async function read({ app }: Shop, url: unknown, headers: Headers = {}) {
  const response = await app.inject({ url: String(url), headers: { accept: 'application/json', ...headers } })
  return response.json()
}
