/** The parts of a product that its seller writes are the same wherever they are listed, and so are their defaults. */
import t from 'tap'
import { importCommand } from '../../cli/import.ts'
import { decimal } from '../../domain/money.ts'
import { quantityRule } from '../../domain/quantities.ts'
import type { StockedProduct } from '../../domain/store.ts'
import { catalogueRepresentations, exportedElement, exportFormats } from '../../representations/catalogue.ts'
import { columnNames, readCsvRecord } from '../../schemas/csv.ts'
import type { Report } from '../../schemas/document.ts'
import { element } from '../../schemas/element.ts'
import { productXsd, readProduct } from '../../schemas/product.ts'
import { childType, rootType } from '../../schemas/vocabulary.ts'

const type = rootType(productXsd, 'product')
/** What only the shop writes. It is the same in a request as if it was not there. */
const ofTheShop = ['version', 'availability', 'modified-at', 'link']

/** A product with everything that a seller can write. The type says if something is missing. */
const full: Required<Omit<StockedProduct, 'version' | 'availability' | 'modifiedAt'>> = {
  id: 'ABC-1',
  name: 'Hex bolt',
  description: 'Zinc-plated',
  price: decimal('9.99'),
  currency: 'EUR',
  unit: 'KGM',
  minimumQuantity: decimal('2'),
  quantityStep: decimal('0.5'),
  gtin: '4006381333931',
  categories: ['Fasteners', 'Bolts'],
  images: ['/a.png', '/b.png'],
  backorder: true,
  onHand: decimal('40')
}

/** The names by which a product's parts are columns: an attribute beside a text has a column of its own. */
function columnsOf(parts: readonly { readonly name: string; readonly hasText: boolean; readonly attributes: readonly string[] }[]) {
  return [...new Set(parts.flatMap(({ name, hasText, attributes }) => (hasText ? [name, ...attributes] : [name])))]
}

const declared = [
  ...type.attributes.map(({ name }) => name),
  ...columnsOf(
    type.children.map(({ name, text, attributes }) => ({
      name,
      hasText: text !== undefined,
      attributes: attributes.map(({ name }) => name)
    }))
  )
].filter((name) => !ofTheShop.includes(name))
const unexpected: Report = (_, detail) => {
  throw new Error(detail)
}
const heading = (csv: string) => csv.trim().split(',')

t.test('the XSD, an export, an import and its help have the same parts of a product', async (t) => {
  t.ok(declared.length > 10)
  t.same(heading(exportFormats.csv.opening), declared, 'the heading of an exported CSV')
  t.same(
    columnNames.filter((name) => !ofTheShop.includes(name)),
    declared,
    'the columns that an import reads'
  )
  const { attributes = {}, children = [] } = exportedElement(full)
  const written = children.map(({ name, text, attributes = {} }) => ({
    name,
    hasText: text !== undefined,
    attributes: Object.keys(attributes)
  }))
  t.same([...Object.keys(attributes), ...columnsOf(written)], declared, 'the elements of an exported product')
  const [, required = '', others = ''] = /the columns ([^.]*?), and any of ([^.]*)\./.exec(importCommand.help ?? '') ?? []
  const named = [required, others].map((list) => list.split(/,\s+|\s+and\s+/))
  t.same(named.flat().sort(), [...declared].sort(), 'the help of import')
  const isRequired = (name: string) => name === 'id' || type.children.some((one) => one.name === name && one.required)
  t.same(named[0], declared.filter(isRequired), 'the columns that the help says are needed')
})

t.test('the public catalogue as CSV has all columns but the stock', async (t) => {
  const csv = catalogueRepresentations.variants.find(({ mediaType }) => mediaType === 'text/csv')
  t.same(
    heading(csv?.opening ?? ''),
    columnNames.filter((name) => name !== 'on-hand')
  )
})

t.test('a product with all of its parts is the same after an export as CSV and an import', async (t) => {
  const exported = exportedElement(full)
  const cells = exportFormats.csv.write([exported]).trim().split(',')
  const { root } = readCsvRecord(
    columnNames.filter((name) => !ofTheShop.includes(name)),
    cells,
    type
  )
  t.same(root && readProduct(root, unexpected), readProduct(exported, unexpected))
})

t.test('the XSD and the help name the defaults that the shop uses', async (t) => {
  const { draft } = readProduct(element('product', {}, [element('name', {}, 'Hex bolt'), element('price', {}, '9.99')]), unexpected)
  t.equal(childType(type, 'unit').documentation, `The default is ${draft.unit}, a piece.`)
  t.match(importCommand.help, `one without unit gets ${draft.unit}.`)
  t.match(childType(type, 'backorder').documentation, `The default is ${draft.backorder ? 'allowed' : 'none'}.`)
  const [counted, measured] = [quantityRule({ unit: draft.unit }), quantityRule({ unit: 'KGM' })]
  for (const [name, least] of [
    ['minimum-quantity', 'minimum'],
    ['quantity-step', 'step']
  ] as const) {
    const documentation = `The default is ${counted[least]} for counted units and ${measured[least]} for measured ones.`
    t.match(childType(type, name).documentation, documentation)
  }
})
