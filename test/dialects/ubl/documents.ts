import type { BuyerDocument, BuyerRequest, OrderDraft } from '../../../dialects/buyer-document.ts'
import { readUbl } from '../../../dialects/ubl/read.ts'
import { readElements, type XmlElement } from '../../../dialects/xml-element.ts'
import { guard } from '../../../xml/guard.ts'

const aggregates = 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2'
const basics = 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2'

/** A document as buyers write it: one element a line, from line 2 on. */
export function document(name: string, content: string): string {
  return `<${name} xmlns="urn:oasis:names:specification:ubl:schema:xsd:${name}-2" xmlns:cac="${aggregates}" xmlns:cbc="${basics}">\n${content}\n</${name}>`
}

export const enveloped = (...documents: readonly string[]): string =>
  `<sbd:StandardBusinessDocument xmlns:sbd="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader"><sbd:StandardBusinessDocumentHeader/>${documents.join('')}</sbd:StandardBusinessDocument>`

export const line = (
  id = '1',
  more = '',
  item = '<cac:SellersItemIdentification><cbc:ID>bolt-8</cbc:ID></cac:SellersItemIdentification>'
) =>
  `<cac:OrderLine><cac:LineItem><cbc:ID>${id}</cbc:ID><cbc:Quantity unitCode="C62">2</cbc:Quantity>${more}<cac:Item>${item}</cac:Item></cac:LineItem></cac:OrderLine>`

export const order = (header = '', lines = line()) => document('Order', `<cbc:ID>PO-7</cbc:ID>\n${header}\n${lines}`)

export const price = (amount: string, currency = 'EUR', more = '') =>
  `<cac:Price><cbc:PriceAmount currencyID="${currency}">${amount}</cbc:PriceAmount>${more}</cac:Price>`

export function elements(xml: string): XmlElement {
  return readElements(guard(Buffer.from(xml)))
}

export function read(xml: string): BuyerDocument {
  const guarded = guard(Buffer.from(xml))
  return readUbl(readElements(guarded), guarded.source)
}

/** The faults in short: code, line, the end of the path, and the sender's number of the order line. */
export function faults(xml: string): readonly string[] {
  return read(xml).faults.map(({ code, line, path, item }) =>
    [
      code,
      line,
      path
        .split('/')
        .slice(-2)
        .join('/')
        .replaceAll(/c[ab]c:/g, ''),
      item
    ]
      .filter((part) => part !== undefined)
      .join(' ')
  )
}

export function request<Kind extends BuyerRequest['kind']>(xml: string, kind: Kind): Extract<BuyerRequest, { kind: Kind }> {
  const { request: found } = read(xml)
  if (found.kind !== kind) throw new Error(`the request is of kind ${found.kind}, not ${kind}`)
  return found as Extract<BuyerRequest, { kind: Kind }>
}

export function draft(xml: string): OrderDraft {
  return request(xml, 'place').order
}

/** A draft as plain texts: each sourced value is its text, and `from` and what is absent are left out. */
export function texts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(texts)
  if (typeof value !== 'object' || value === null) return value
  const { text, ...others } = value as Readonly<Record<string, unknown>>
  if (typeof text === 'string') return text
  return Object.fromEntries(
    Object.entries(others)
      .filter(([name, one]) => name !== 'from' && one !== undefined)
      .map(([name, one]) => [name, texts(one)])
  )
}
