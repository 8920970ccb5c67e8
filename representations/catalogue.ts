import type { Product } from '../domain/product.ts'
import type { Revision, StockedProduct } from '../domain/store.ts'
import { type ColumnName, writeCsvHeader, writeCsvRecord } from '../schemas/csv.ts'
import { rootType } from '../schemas/document.ts'
import { type Element, element } from '../schemas/element.ts'
import { toJson } from '../schemas/json.ts'
import { product as productSchema } from '../schemas/product.ts'
import { writeElement, xmlDeclaration } from '../schemas/xml.ts'
import { productElement, sellersPart } from './product.ts'
import type { Context, Representation, Representations, Validators } from './representation.ts'

/** How a catalogue is written, part by part: its products are never all in memory. */
export interface CatalogueForm {
  readonly opening: string
  /** @param products `product` elements */
  readonly write: (products: readonly Element[]) => string
  readonly closing: string
}

const productType = rootType(productSchema)

const xml: CatalogueForm = {
  opening: `${xmlDeclaration}<catalogue>\n`,
  write: (products) => products.map((product) => `${writeElement(product, '  ')}\n`).join(''),
  closing: '</catalogue>\n'
}

const ndjson: CatalogueForm = {
  opening: '',
  write: (products) => products.map((product) => `${JSON.stringify(toJson(product, productType))}\n`).join(''),
  closing: ''
}

function csv(columns: readonly ColumnName[]): CatalogueForm {
  return {
    opening: writeCsvHeader(columns),
    write: (products) => products.map((product) => writeCsvRecord(columns, product)).join(''),
    closing: ''
  }
}

const sellersColumns = [
  'id',
  'name',
  'description',
  'price',
  'currency',
  'unit',
  'minimum-quantity',
  'quantity-step',
  'gtin',
  'category',
  'image',
  'backorder'
] as const

/** All that a seller writes of a catalogue, stock included: an import of it makes the same catalogue. */
export const exportForms = { xml, csv: csv([...sellersColumns, 'on-hand']), ndjson } as const

export function exportedElement(product: Omit<StockedProduct, 'version' | 'availability' | 'modifiedAt'>): Element {
  return element('product', { id: product.id }, [...sellersPart(product), element('on-hand', {}, product.onHand)])
}

/** A media type of the whole catalogue; `write` writes some of its products. */
export interface CatalogueRepresentation extends Representation<readonly Product[]> {
  readonly opening: string
  readonly closing: string
}

/** A product among all of them: of its links only the one to itself, where the others are. */
function listedElement(product: Product, context: Context): Element {
  const { children = [], ...rest } = productElement(product, context)
  return { ...rest, children: children.filter(({ name, attributes }) => name !== 'link' || attributes?.['rel'] === 'self') }
}

function listed({ opening, write, closing }: CatalogueForm, mediaType: string, suffix: string): CatalogueRepresentation {
  return {
    mediaType,
    contentType: `${mediaType}; charset=utf-8`,
    suffix,
    opening,
    write: (products, context) => write(products.map((product) => listedElement(product, context))),
    closing
  }
}

/** The catalogue as anybody may read it: without stock, which changes at another pace. */
export const catalogueRepresentations = {
  variants: [
    listed(xml, 'application/xml', 'xml'),
    { ...listed(xml, 'text/xml', 'text'), alias: true },
    listed(csv(['id', 'version', ...sellersColumns.slice(1), 'availability', 'modified-at']), 'text/csv', 'csv'),
    listed(ndjson, 'application/x-ndjson', 'ndjson')
  ],
  validators: ({ revision, modifiedAt }: Revision): Validators => ({ version: `${revision}.${modifiedAt.toString(36)}`, modifiedAt }),
  schema: 'catalogue'
} as const satisfies Pick<Representations<never>, 'validators' | 'schema'> & { readonly variants: readonly CatalogueRepresentation[] }
