import type { Product } from '../domain/product.ts'
import type { Revision, StockedProduct } from '../domain/store.ts'
import { type ColumnName, writeCsvHeader, writeCsvRecord } from '../schemas/csv.ts'
import { type Element, element } from '../schemas/element.ts'
import { toJson } from '../schemas/json.ts'
import { productXsd } from '../schemas/product.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { writeElement, xmlDeclaration } from '../schemas/xml.ts'
import { linkedToItself } from './links.ts'
import { productElement, sellerElements } from './product.ts'
import { type Representation, type Representations, type Validators, versionText } from './representation.ts'

/** Writes a catalogue in parts, so that its products are never all in memory. */
export interface CatalogueFormat {
  readonly opening: string
  /** @param products `product` elements */
  readonly write: (products: readonly Element[]) => string
  readonly closing: string
}

const productType = rootType(productXsd, 'product')

const xml: CatalogueFormat = {
  opening: `${xmlDeclaration}<catalogue>\n`,
  write: (products) => products.map((product) => `${writeElement(product, '  ')}\n`).join(''),
  closing: '</catalogue>\n'
}

const ndjson: CatalogueFormat = {
  opening: '',
  write: (products) => products.map((product) => `${JSON.stringify(toJson(product, productType))}\n`).join(''),
  closing: ''
}

function csv(columns: readonly ColumnName[]): CatalogueFormat {
  return {
    opening: writeCsvHeader(columns),
    write: (products) => products.map((product) => writeCsvRecord(columns, product)).join(''),
    closing: ''
  }
}

const sellerColumns = [
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

/** The formats of an export. An export has everything that the seller writes, stock included, so importing it makes the same catalogue. */
export const exportFormats = { xml, csv: csv([...sellerColumns, 'on-hand']), ndjson } as const

export function exportedElement(product: Omit<StockedProduct, 'version' | 'availability' | 'modifiedAt'>): Element {
  return element('product', { id: product.id }, [...sellerElements(product), element('on-hand', {}, product.onHand)])
}

/** One media type of the whole catalogue. `write` writes a batch of its products. */
export interface CatalogueRepresentation extends Representation<readonly Product[]> {
  readonly opening: string
  readonly closing: string
}

function catalogueRepresentation({ opening, write, closing }: CatalogueFormat, mediaType: string, suffix: string): CatalogueRepresentation {
  return {
    mediaType,
    contentType: `${mediaType}; charset=utf-8`,
    suffix,
    opening,
    write: (products, context) => write(products.map((product) => linkedToItself(productElement(product, context)))),
    closing
  }
}

/** The public catalogue. It has no stock, which changes far more often than the products. */
export const catalogueRepresentations = {
  variants: [
    catalogueRepresentation(xml, 'application/xml', 'xml'),
    { ...catalogueRepresentation(xml, 'text/xml', 'text'), alias: true },
    catalogueRepresentation(csv(['id', 'version', ...sellerColumns.slice(1), 'availability', 'modified-at']), 'text/csv', 'csv'),
    catalogueRepresentation(ndjson, 'application/x-ndjson', 'ndjson')
  ],
  isDated: true,
  // The tag is weak, because the response may have changes that were made while it was sent.
  validators: ({ revision, modifiedAt }: Revision): Validators => ({
    version: versionText(revision, modifiedAt),
    modifiedAt,
    isWeak: true
  }),
  schema: 'catalogue'
} as const satisfies Pick<Representations<never>, 'isDated' | 'validators' | 'schema'> & {
  readonly variants: readonly CatalogueRepresentation[]
}
