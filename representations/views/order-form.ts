import { type Caller, hasScope } from '../../domain/caller.ts'
import { minorUnit } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import type { Product } from '../../domain/product.ts'
import type { LocatedFault } from '../../schemas/document.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import type { ElementType } from '../../schemas/vocabulary.ts'
import { uris } from '../links.ts'
import type { ProblemDocument } from '../problem.ts'
import type { Context } from '../representation.ts'
import { type Notice, refusalNotice, renderPage } from '../views.ts'
import { type Errors, type Field, fieldOf, placeErrors, type Values } from './fields.ts'
import { label } from './format.ts'

/** What the form of a new order, or of a change to one, starts with. */
export interface OrderForm {
  readonly title: string
  readonly action: string
  readonly values: Values
  /** Of a new order: what makes a second post of it harmless. */
  readonly idempotencyKey?: string
  /** Of a change: the entity tag of the version that was read. */
  readonly tag?: string
  /** Of a change: the lines that the order has, which keep their price. */
  readonly kept?: readonly OrderItem[]
  readonly problem?: ProblemDocument
  /** To choose from, and those that the lines name. */
  readonly products: readonly Product[]
  /** The form was asked to look up what was typed, and for so many more lines. */
  readonly moreRows?: number
  readonly guestsMayOrder: boolean
}

interface Group {
  readonly name: string
  readonly label: string
  readonly fields: readonly Field[]
}

const spareRows = 4

/** Enter goes on to the next line. */
const inLine = { autocomplete: 'off', enterkeyhint: 'next' } as const

/** What is missing, as a person would say it; the script says it too. */
const missing = {
  line: 'The order has no line yet: choose a product and say how many.',
  product: 'Choose a product for this line, or clear the rest of it.',
  quantity: 'Say how many of this product.'
}

function childOf(type: ElementType | undefined, name: string): ElementType {
  const found = type?.children.find((child) => child.name === name)
  if (!found) throw new Error(`the schema of orders has no ${name}`)
  return found
}

const orderType = orderXsd.vocabulary.get('purchase-order')
const itemType = childOf(orderType, 'item')

/** What a person fills in anew; other parts of an order that is changed travel along unseen. */
const notAsked = ['item', 'issue-date', 'currency', 'extension']

/** HTML's autofill names for the vocabulary's (HTML Living Standard, 4.10.18.7). */
const autofill: Readonly<Record<string, string>> = {
  name: 'organization',
  email: 'email',
  phone: 'tel',
  street: 'address-line1',
  'additional-street': 'address-line2',
  city: 'address-level2',
  'postal-code': 'postal-code',
  region: 'address-level1',
  country: 'country'
}
const autofillSections: Readonly<Record<string, string>> = { 'ship-to': 'shipping ', 'bill-to': 'billing ' }

function groupOf(type: ElementType, values: Values, errors: Errors): Group {
  const leaves = (parent: ElementType, place: string): Field[] =>
    parent.children.flatMap((child) => {
      const name = `${place}.${child.name}`
      if (!child.text) return leaves(child, name)
      const fill = autofill[child.name]
      const field = fieldOf(child, name, values, errors, { autocomplete: fill ? `${autofillSections[type.name] ?? ''}${fill}` : 'off' })
      // A browser that finds a closed section's field wrong sends nothing and shows nothing: these are the service's to judge.
      const { pattern: _pattern, ...attributes } = field.attributes
      return [{ ...field, attributes }]
    })
  return { name: type.name, label: label(type.name), fields: leaves(type, type.name) }
}

/** The number of the line that a field is of. */
function lineOf(name: string): number | undefined {
  const number = /^item\.(0|[1-9]\d{0,8})\./.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** How many lines a form was sent with. */
export function lineCount(values: Values): number {
  return new Set([...values.keys()].flatMap((name) => lineOf(name) ?? [])).size
}

/**
 * By its number, what is in each line that the form had, and in blank ones after them; of an order or a first form, those
 * with something in them.
 * @param moreRows how many more were asked for; 0 keeps at least one blank, to go on in
 */
function linesOf(values: Values, moreRows?: number): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>()
  for (const [name, value] of values) {
    const number = lineOf(name)
    if (number === undefined) continue
    const filled = found.get(number) ?? []
    found.set(number, filled)
    if (value.trim() !== '') filled.push(name)
  }
  const rows = new Map([...found].sort(([a], [b]) => a - b))
  const isFull = [...rows.values()].every((filled) => filled.length > 0)
  const total = Math.max(spareRows, rows.size + (moreRows === 0 && isFull ? 1 : (moreRows ?? 0)))
  for (let next = ([...rows.keys()].at(-1) ?? 0) + 1; rows.size < total; next++) rows.set(next, [])
  return rows
}

/** What the schema says of a line that is only half filled in, as a person would say it. */
function inWords(fault: LocatedFault, values: Values): LocatedFault {
  const line = /^item\.\d+(?=\.quantity$|\.note(?:\.\d+)?$|$)/.exec(fault.path ?? '')?.[0]
  if (line === undefined || fault.code !== undefined) return fault
  const has = (name: string) => (values.get(`${line}.${name}`) ?? '').trim() !== ''
  if (!has('product-id') && !has('gtin')) return { detail: missing.product, path: `${line}.product-id` }
  return has('quantity') ? fault : { detail: missing.quantity, path: `${line}.quantity` }
}

/** Where a fault shows that is about a line, a party or the whole order: at a field that a person can go to. */
function fieldFinder(names: readonly string[], values: Values) {
  return (path: string): string | undefined => {
    if (path === '') return names[0]
    const under = names.filter((name) => name.startsWith(`${path}.`))
    return (
      names.find((name) => name === path) ??
      under.find((name) => !values.get(name)?.trim()) ??
      under[0] ??
      names.find((name) => path.startsWith(`${name}.`))
    )
  }
}

/** What the top of the form says of a refusal. */
function noticeOf({ problem }: OrderForm, { base }: Context): Notice | undefined {
  if (problem?.status === 412) {
    return {
      ...refusalNotice(problem, 'the order'),
      detail: 'What you sent was not stored. It is still here: look at the order as it stands, and send this again if it is what you want.'
    }
  }
  if (problem?.type === uris(base).problem('idempotency-key-reused')) {
    return {
      kind: 'problem',
      title: 'This form was sent before',
      detail: 'An order was placed with it, with other content. To place this one as well, send it again.'
    }
  }
  return problem && { kind: 'problem', title: problem.title, detail: problem.detail }
}

/** Who sent a change that is to be sent again as who typed it. */
function typedBy({ tag, problem, values }: OrderForm): string | undefined {
  return tag !== undefined && problem?.status === 401 ? values.get('_customer') : undefined
}

function customerOf(caller: Caller): string | undefined {
  return caller.kind === 'key' ? caller.customer : undefined
}

type Described = Pick<Product, 'name' | 'price' | 'unit'>

/** What is known of the products that the lines name: what the order has keeps its price, whatever became of the product. */
function described({ kept = [], products }: OrderForm): ReadonlyMap<string, Described> {
  const known = new Map<string, Described>(products.map((product) => [product.id, product]))
  for (const { productId, name, unitPrice, unit } of kept) known.set(productId, { name, price: unitPrice, unit })
  return known
}

/** The order form: every field, and what it may hold, from the schema of orders. */
export function renderOrderForm(form: OrderForm, context: Context): string {
  const { values, problem } = form
  const lines = linesOf(values, form.moreRows)
  const numbers = [...lines.keys()]
  const allBlank = [...lines.values()].every((filled) => filled.length === 0)
  const isEmpty = allBlank && (problem?.errors ?? []).some(({ path }) => (path ?? '') === '')
  const faults = isEmpty ? [{ detail: missing.line, path: '' }] : (problem?.errors ?? []).map((fault) => inWords(fault, values))
  const known = described(form)
  const next = form.moreRows === undefined ? undefined : numbers.find((number) => lines.get(number)?.length === 0)
  const notesOf = (number: number) => (lines.get(number) ?? []).filter((name) => name.startsWith(`item.${number}.note.`))
  const rowNames = numbers.flatMap((number) => [`item.${number}.product-id`, `item.${number}.quantity`, ...notesOf(number)])
  const inRows = new Set(rowNames)

  const drawRows = (errors: Errors) =>
    numbers.map((number, i) => {
      const required: Record<string, string> = i === 0 && allBlank && itemType.required ? { required: '' } : {}
      const name = `item.${number}`
      const id = values.get(`${name}.product-id`)?.trim() ?? ''
      return {
        number,
        position: i + 1,
        product: fieldOf(childOf(itemType, 'product-id'), `${name}.product-id`, values, errors, {
          list: 'catalogue',
          ...inLine,
          ...(number === next ? { autofocus: '' } : {}),
          ...required
        }),
        quantity: fieldOf(childOf(itemType, 'quantity'), `${name}.quantity`, values, errors, { ...inLine, ...required }),
        notes: notesOf(number).map((one) => fieldOf(childOf(itemType, 'note'), one, values, errors, { autocomplete: 'off' })),
        hidden: (lines.get(number) ?? []).filter((one) => !inRows.has(one)).map((one) => [one, values.get(one)]),
        id,
        chosen: known.get(id)
      }
    })
  const drawRest = (errors: Errors) => {
    const asked = (orderType?.children ?? []).filter(({ name }) => !notAsked.includes(name))
    const loose = asked
      .filter(({ text }) => text)
      .map((type) => fieldOf(type, type.repeatable ? `${type.name}.1` : type.name, values, errors, { autocomplete: 'off' }))
    const groups = asked.filter(({ text }) => !text).map((type) => groupOf(type, values, errors))
    return { loose, groups }
  }
  const blank = drawRest(placeErrors([], () => undefined))
  const shown = [
    ...rowNames,
    ...blank.loose.map(({ name }) => name),
    ...blank.groups.flatMap(({ fields }) => fields.map(({ name }) => name))
  ]
  const errors = placeErrors(faults, fieldFinder(shown, values))
  const asked = new Set(shown)
  const hidden = [...values].filter(
    ([name, value]) => !asked.has(name) && lineOf(name) === undefined && !name.startsWith('_') && value !== ''
  )
  const listed = isEmpty
    ? errors.all
    : errors.all.map((error) => ({ ...error, line: numbers.indexOf(lineOf(error.field ?? '') ?? -1) + 1 }))
  return renderPage(
    'order-form',
    form.title,
    {
      form,
      rows: drawRows(errors),
      ...drawRest(errors),
      hidden,
      listed,
      refusal: noticeOf(form, context),
      customer: typedBy(form) ?? customerOf(context.caller),
      mayOrder: hasScope(context.caller, 'order'),
      script: scriptData(context)
    },
    context
  )
}

/** What the script needs to know: where things are. What an order may hold it reads from the schema itself. */
function scriptData({ base, currency }: Context) {
  const uri = uris(base)
  return {
    root: orderType?.name,
    schema: uri.schema(orderType?.name ?? ''),
    products: uri.products,
    product: uri.product(''),
    session: `${base}/session`,
    currency,
    digits: minorUnit(currency),
    missing
  }
}
