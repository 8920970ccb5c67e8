import { defined } from '../../domain/defined.ts'
import type { ExtensionDraft, ItemDraft, PriceDraft, Sourced } from '../buyer-document.ts'
import { dateIn } from '../dates.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'
import { extension, readCharges, readComments, readExtrinsics } from './annotations.ts'
import { type NumberedLine, personOf } from './delivery.ts'
import type { Values } from './values.ts'

/** @param orderPerson the person to whom the whole order is delivered */
export function readItem({ element, number }: NumberedLine, orderPerson: string, values: Values): ItemDraft {
  const id = find(element, 'ItemID')
  const detail = find(element, 'ItemDetail')
  const unitPrice = find(detail, 'UnitPrice')
  return {
    from: element,
    lineId: values.attribute(element, 'lineNumber') ?? { text: number, from: element },
    ...defined({
      sellerId: values.text(find(id, 'SupplierPartID')),
      gtin: readGtin(id, detail, values),
      quantity: values.attribute(element, 'quantity'),
      unit: values.text(find(detail, 'UnitOfMeasure')),
      price: readPrice(unitPrice, detail, values),
      requestedDeliveryDate: values.attribute(element, 'requestedDeliveryDate') ?? earliestDate(element, values)
    }),
    notes: [
      ...readComments(element, values),
      ...readSchedule(element, values),
      ...readCharges(unitPrice, values),
      ...readPerson(element, orderPerson, values)
    ],
    extensions: [...readNames(id, detail, values), ...readExtrinsics(detail, values), ...readExtrinsics(element, values)]
  }
}

/** The date of a schedule line, without its time. A text that is no date stays as it is. */
function requestedDate(line: XmlElement, values: Values): Sourced | undefined {
  const value = values.attribute(line, 'requestedDeliveryDate')
  return value && { ...value, text: dateIn(value.text) ?? value.text }
}

function scheduledDates(element: XmlElement, values: Values): readonly Sourced[] {
  const dates = findAll(element, 'ScheduleLine').flatMap((line) => requestedDate(line, values) ?? [])
  return dates.toSorted((a, b) => (a.text < b.text ? -1 : 1))
}

/** A line has one date. A note has the others. */
function earliestDate(element: XmlElement, values: Values): Sourced | undefined {
  return scheduledDates(element, values)[0]
}

function readSchedule(element: XmlElement, values: Values): readonly Sourced[] {
  const dates = new Set(scheduledDates(element, values).map(({ text }) => text))
  if (dates.size < 2) return []
  const parts = findAll(element, 'ScheduleLine').map((line) => {
    const date = requestedDate(line, values)
    return [values.attribute(line, 'quantity')?.text, date && `on ${date.text}`].filter((part) => part !== undefined).join(' ')
  })
  return [{ text: `ScheduleLine: ${parts.join(', ')}`, from: element }]
}

/** The domains of an IdReference that holds a GTIN, in lower case without hyphens. */
const gtinDomains: ReadonlySet<string> = new Set(['ean13', 'ean8', 'ean', 'gtin', 'gtin8', 'gtin12', 'gtin13', 'gtin14'])

function readGtin(id: XmlElement | undefined, detail: XmlElement | undefined, values: Values): Sourced | undefined {
  const isGtin = (reference: XmlElement) => gtinDomains.has((attributeOf(reference, 'domain') ?? '').toLowerCase().replace(/[-_ ]/g, ''))
  const reference = findAll(id, 'IdReference').find((each) => isGtin(each) && attributeOf(each, 'identifier'))
  return values.attribute(reference, 'identifier') ?? values.text(find(detail, 'ItemDetailIndustry', 'ItemDetailRetail', 'EANID'))
}

function readPrice(unitPrice: XmlElement | undefined, detail: XmlElement | undefined, values: Values): PriceDraft | undefined {
  const amount = values.text(find(unitPrice, 'Money'))
  if (!amount) return undefined
  const basis = find(detail, 'PriceBasisQuantity')
  return { amount, ...defined({ base: values.attribute(basis, 'quantity'), factor: values.attribute(basis, 'conversionFactor') }) }
}

function readNames(id: XmlElement | undefined, detail: XmlElement | undefined, values: Values): readonly ExtensionDraft[] {
  const elements = [
    ...['SupplierPartAuxiliaryID', 'BuyerPartID'].flatMap((local) => findAll(id, local)),
    ...['ManufacturerPartID', 'ManufacturerName', 'Classification', 'Description'].flatMap((local) => findAll(detail, local))
  ]
  return elements.flatMap((element) => extension(element.local, valueIn(element), element, values))
}

function valueIn(element: XmlElement): string | undefined {
  if (element.local === 'Description') return trimmedText(element) ?? trimmedText(find(element, 'ShortName'))
  if (element.local !== 'Classification') return trimmedText(element)
  const code = trimmedText(element) ?? attributeOf(element, 'code')
  return code && [attributeOf(element, 'domain'), code].filter((part) => part !== undefined).join(':')
}

/** The order has one person to deliver to. A line with another person gets a note. */
function readPerson(element: XmlElement, orderPerson: string, values: Values): readonly Sourced[] {
  const own = find(element, 'ShipTo')
  const person = personOf(own)
  return own && person && person !== orderPerson ? [values.prose(`DeliverTo: ${person}`, own)] : []
}
