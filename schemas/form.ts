import { maxFaults, type Naming, readTree, type Tree, type TreeFault, type TreeReading } from './tree.ts'
import type { ElementType } from './vocabulary.ts'

export const formMediaType = 'application/x-www-form-urlencoded'

/**
 * The names of form fields are the XSD's names with dots between the levels: `order-number`, `buyer.address.city`. A
 * repeatable element has a number: `item.1.product-id`, `item.2.quantity`, `note.1`. The text of an element that has
 * attributes is `name.value`, or `name`. If an item must name a line, the number of the item is the number of the line.
 */
type Fields = Map<string, Fields | string>

/** The numbers that the rows of a repeatable field were sent with, by the field's name. */
type RowNumbers = Map<string, readonly string[]>

/** The start of the name of a field with a line's price that the page showed: `_price.3` is `ABC-1 9.99`. */
export const shownPriceField = '_price.'

/** The most levels of a name: `item.1.quantity.unit` has four. A longer name is unknown anyway, so it is not split. */
const maxLevels = 8

/**
 * Reads form fields. Blank fields are left out, and so is an item whose fields are all blank, since people leave rows of
 * a form empty. A country can be typed in small letters. Fields whose names start with `_` control the form and are not part of the document,
 * but for the prices that the page showed.
 * @param most the most elements that the document may have
 */
export function readForm(fields: URLSearchParams, type: ElementType, most?: number): TreeReading {
  const root: Fields = new Map()
  const faults: TreeFault[] = []
  const seen = new Map<string, number>()
  for (const [name, value] of withExpectedPrices(fields)) {
    if (name.startsWith('_') || value.trim() === '') continue
    const one = canonicalName(name)
    seen.set(one, (seen.get(one) ?? 0) + 1)
    if (seen.get(one) === 2 && faults.length < maxFaults) faults.push({ path: name, detail: 'This field occurs more than once.' })
    const levels = name.split('.', maxLevels + 1)
    // A browser sends the line ends of a text area as CR LF (HTML, form submission). A document has LF.
    put(root, levels.length > maxLevels ? [name] : levels, value.replaceAll('\r\n', '\n'))
  }
  const rowNumbers: RowNumbers = new Map()
  const dotted: Naming = {
    member: (name) => name,
    under: (place, step) => {
      const name = typeof step === 'number' ? (rowNumbers.get(place)?.[step] ?? String(step + 1)) : step
      return place === '' ? name : `${place}.${name}`
    },
    wanted: {
      string: 'This field has no parts.',
      number: 'This field has no parts.',
      quoted: 'This must be text.',
      object: 'This field has parts:'
    }
  }
  return readTree(toTree(root, type, '', rowNumbers, faults), type, dotted, { known: faults, most })
}

/**
 * The fields of a form, and the price that the page showed for a line as the expected one: nobody orders at a price that they have not
 * seen. It does not apply if another product was typed into the line since, or nothing is left in it.
 */
function* withExpectedPrices(fields: URLSearchParams): Iterable<readonly [name: string, value: string]> {
  yield* fields
  const shown = [...fields].filter(([name]) => name.startsWith(shownPriceField))
  if (shown.length === 0) return
  const values = new Map(fields)
  for (const [name, value] of shown) {
    const line = `item.${name.slice(shownPriceField.length)}`
    const [productId, price = ''] = value.split(' ')
    const isSame = values.get(`${line}.product-id`)?.trim() === productId
    if (isSame && !values.has(`${line}.unit-price`)) yield [`${line}.unit-price`, price]
  }
}

/** The canonical name of a field: `note.1` for `note.01`, `quantity` for `quantity.value`. */
function canonicalName(name: string): string {
  return name.replace(/\.0+(?=\d)/g, '.').replace(/\.value$/, '')
}

function put(fields: Fields, [head = '', ...rest]: readonly string[], value: string): void {
  const there = fields.get(head)
  if (rest.length === 0) {
    if (there instanceof Map) there.set('value', value)
    else fields.set(head, value)
    return
  }
  const inner: Fields = there instanceof Map ? there : new Map(there === undefined ? [] : [['value', there]])
  fields.set(head, inner)
  put(inner, rest, value)
}

/** Turns numbered fields into arrays in the order of their numbers. Gaps close, so `rowNumbers` keeps the numbers that were sent. */
function toTree(fields: Fields, type: ElementType, place: string, rowNumbers: RowNumbers, faults: TreeFault[]): Tree {
  const members = [...fields].map(([name, value]): [string, Tree] => {
    const child = type.children.find((candidate) => candidate.name === name)
    const there = place === '' ? name : `${place}.${name}`
    if (typeof value === 'string') return [name, child?.repeatable ? [value] : inCapitals(value, child)]
    if (!child?.repeatable) return [name, toTree(value, child ?? type, there, rowNumbers, faults)]
    const rows = [...value].filter(([number]) => isNumber(number, there, faults)).sort(([a], [b]) => Number(a) - Number(b))
    rowNumbers.set(
      there,
      rows.map(([number]) => number)
    )
    return [
      name,
      rows.map(([number, row]) =>
        typeof row === 'string' ? row : toTree(withLine(row, child, number), child, `${there}.${number}`, rowNumbers, faults)
      )
    ]
  })
  return Object.fromEntries(members)
}

/** A country, which is a code of two capital letters, may be typed in small ones. */
function inCapitals(value: string, type: ElementType | undefined): string {
  return type?.name === 'country' && /^\s*[a-z]{2}\s*$/i.test(value) ? value.toUpperCase() : value
}

/** Adds the number of the row as its line, if each row must name a line: `item.3.quantity` belongs to line 3. */
function withLine(row: Fields, type: ElementType, number: string): Fields {
  const namesLine = type.attributes.some(({ name, required }) => name === 'line' && required)
  return namesLine && !row.has('line') ? new Map([...row, ['line', String(Number(number))]]) : row
}

function isNumber(name: string, place: string, faults: TreeFault[]): boolean {
  if (/^\d{1,9}$/.test(name)) return true
  if (faults.length >= maxFaults) return false
  faults.push({ path: `${place}.${name}`, detail: `Rows of ${place} are numbered: ${place}.1, ${place}.2.` })
  return false
}
