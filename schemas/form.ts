import { type Notation, readTree, type Tree, type TreeFault, type TreeReading } from './tree.ts'
import type { ElementType } from './vocabulary.ts'

/** What a page's form is sent as. */
export const formMediaType = 'application/x-www-form-urlencoded'

/**
 * Form fields carry the vocabulary's own names with dots between the levels: `order-number`, `buyer.address.city`, and a
 * number where an element may be there more than once: `item.1.product-id`, `item.2.quantity`, `note.1`.
 * The text of an element that has attributes is `name.value`, or just `name`.
 */
type Fields = Map<string, Fields | string>

/** By the name of a repeatable field: the numbers that its rows were sent with. */
type Numbers = Map<string, readonly string[]>

/** `item.1.quantity.unit` has four; a name with more is none of ours, and not worth taking apart. */
const maxLevels = 8

/**
 * Reads form fields. Blank fields are left out, and so is an item of which all fields are blank: a person leaves rows
 * of a form empty. Fields whose name starts with `_` are the form's own and not part of the document.
 * @param most the most elements that a document can have
 */
export function readForm(fields: URLSearchParams, type: ElementType, most?: number): TreeReading {
  const root: Fields = new Map()
  const faults: TreeFault[] = []
  const seen = new Map<string, number>()
  for (const [name, value] of fields) {
    if (name.startsWith('_') || value.trim() === '') continue
    const one = spelling(name)
    seen.set(one, (seen.get(one) ?? 0) + 1)
    if (seen.get(one) === 2) faults.push({ path: name, detail: 'This field is there more than once.' })
    const levels = name.split('.', maxLevels + 1)
    // A browser sends a text area's line ends as CR LF (HTML, form submission); a document's are LF.
    put(root, levels.length > maxLevels ? [name] : levels, value.replaceAll('\r\n', '\n'))
  }
  const numbers: Numbers = new Map()
  const dotted: Notation = {
    member: (name) => name,
    under: (place, step) => {
      const name = typeof step === 'number' ? (numbers.get(place)?.[step] ?? String(step + 1)) : step
      return place === '' ? name : `${place}.${name}`
    },
    root: '',
    wanted: {
      string: 'This field has no parts.',
      number: 'This field has no parts.',
      quoted: 'This must be a text.',
      object: 'This field has parts:'
    }
  }
  return readTree(toTree(root, type, '', numbers, faults), type, dotted, { known: faults, most })
}

/** The one name of a field that can be written in several ways: `note.01` is `note.1`, `quantity.value` is `quantity`. */
function spelling(name: string): string {
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

/** Numbered fields become arrays in the order of their numbers; gaps close, so `numbers` remembers what was sent. */
function toTree(fields: Fields, type: ElementType, place: string, numbers: Numbers, faults: TreeFault[]): Tree {
  const members = [...fields].map(([name, value]): [string, Tree] => {
    const child = type.children.find((candidate) => candidate.name === name)
    const there = place === '' ? name : `${place}.${name}`
    if (typeof value === 'string') return [name, child?.repeatable ? [value] : value]
    if (!child?.repeatable) return [name, toTree(value, child ?? type, there, numbers, faults)]
    const rows = [...value].filter(([number]) => isNumber(number, there, faults)).sort(([a], [b]) => Number(a) - Number(b))
    numbers.set(
      there,
      rows.map(([number]) => number)
    )
    return [name, rows.map(([number, row]) => (typeof row === 'string' ? row : toTree(row, child, `${there}.${number}`, numbers, faults)))]
  })
  return Object.fromEntries(members)
}

function isNumber(name: string, place: string, faults: TreeFault[]): boolean {
  if (/^\d{1,9}$/.test(name)) return true
  faults.push({ path: `${place}.${name}`, detail: `Rows of ${place} are numbered: ${place}.1, ${place}.2.` })
  return false
}
