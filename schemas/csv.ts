import { type Cell, writeRecord } from './csv-record.ts'
import { child, childrenOf, type Element } from './element.ts'
import { type Naming, readTree, type Tree, type TreeReading } from './tree.ts'
import type { ElementType } from './vocabulary.ts'

/** One column of a catalogue. */
interface Column {
  /** The column's values for a product: at most one, unless the column is repeatable. */
  readonly values: (product: Element) => readonly string[]
  /** Whether one cell may hold several values. */
  readonly repeatable?: true
}

const text = (name: string): Column => ({ values: (product) => childrenOf(product, name).map((one) => one.text ?? '') })
const ownAttribute = (name: string): Column => ({ values: ({ attributes }) => present(attributes?.[name]) })

/** All columns by the names of the XSD, in the order in which they are written. */
const columns = {
  id: ownAttribute('id'),
  version: ownAttribute('version'),
  name: text('name'),
  description: text('description'),
  price: text('price'),
  currency: { values: (product) => present(child(product, 'price')?.attributes?.['currency']) },
  unit: text('unit'),
  'minimum-quantity': text('minimum-quantity'),
  'quantity-step': text('quantity-step'),
  gtin: text('gtin'),
  category: { ...text('category'), repeatable: true },
  image: { values: (product) => childrenOf(product, 'image').flatMap(({ attributes }) => present(attributes?.['href'])), repeatable: true },
  backorder: text('backorder'),
  'on-hand': text('on-hand'),
  availability: text('availability'),
  'modified-at': text('modified-at')
} satisfies Readonly<Record<string, Column>>

export type ColumnName = keyof typeof columns

export const columnNames = Object.keys(columns) as readonly ColumnName[]

function present(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value]
}

export function isColumnName(name: string): name is ColumnName {
  return Object.hasOwn(columns, name)
}

/** Whether a column may occur more than once, and whether one of its cells may hold several values. */
export function isRepeatable(name: ColumnName): boolean {
  return 'repeatable' in columns[name]
}

/** A place in a record is named by its column, so positions and nested names are dropped. */
const cellNaming: Naming = {
  member: (name) => name,
  under: (place, step) => (place === '' || step === 'currency' ? String(step) : place)
}

/**
 * Reads one record into a product's element.
 * @param cells in the order of the columns; missing cells at the end are empty
 */
export function readCsvRecord(names: readonly ColumnName[], cells: readonly Cell[], type: ElementType): TreeReading {
  const tree = new Map<string, Tree>()
  const price = new Map<string, Tree>()
  names.forEach((name, i) => {
    const cell = cells[i]
    if (cell === undefined) return
    if (name === 'price') price.set('value', cell)
    else if (name === 'currency') price.set('currency', cell)
    else if (name === 'category') tree.set(name, [...((tree.get(name) ?? []) as readonly Tree[]), ...splitCell(cell)])
    else if (name === 'image')
      tree.set(name, [...((tree.get(name) ?? []) as readonly Tree[]), ...splitCell(cell).map((href) => ({ href }))])
    else tree.set(name, cell)
  })
  if (price.size > 0) tree.set('price', Object.fromEntries(price))
  return readTree(Object.fromEntries(tree), type, cellNaming)
}

/** Splits a cell into its values, which are separated by bars. In a value, `\|` is a bar and `\\` is a backslash. */
function splitCell(cell: string): readonly string[] {
  return (cell.match(/(?:\\[\\|]|[^|])+/g) ?? []).map((value) => value.replace(/\\([\\|])/g, '$1'))
}

function joinCell(values: readonly string[]): string {
  return values.map((value) => value.replace(/[\\|]/g, '\\$&')).join('|')
}

export function writeCsvHeader(names: readonly ColumnName[]): string {
  return writeRecord(names)
}

/** @param product a `product` element; parts without a column are left out */
export function writeCsvRecord(names: readonly ColumnName[], product: Element): string {
  return writeRecord(
    names.map((name) => {
      const values = columns[name].values(product)
      if (values.length === 0) return undefined
      return isRepeatable(name) ? joinCell(values) : values[0]
    })
  )
}
