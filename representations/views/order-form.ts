import { type Caller, hasScope } from '../../domain/caller.ts'
import { compare, decimal, isMultiple, minorUnit, plain } from '../../domain/money.ts'
import type { Order, OrderItem } from '../../domain/order.ts'
import type { Product } from '../../domain/product.ts'
import { leastQuantity, type QuantityRule, quantityRule } from '../../domain/quantities.ts'
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
  /** Lines that were sent are not in it, so it can only be looked at. */
  readonly leftOut?: boolean
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

interface Described extends Pick<Product, 'name' | 'price' | 'unit'> {
  /** What more of it costs; of a product that is not known now, what the order has of it costs. */
  readonly today: Product['price']
  /** Absent where the product is not known now. */
  readonly rule?: QuantityRule
}

/** What is known of the product that a line names: what the order has keeps its price, whatever became of the product. */
function describe({ kept = [], products }: OrderForm): (number: number, id: string) => Described | undefined {
  const known = new Map(products.map((product) => [product.id, product]))
  const first = new Map(kept.toReversed().map((item) => [item.productId, item]))
  return (number, id) => {
    const product = known.get(id)
    const rule = product && { rule: quantityRule(product) }
    const own = kept[number - 1]
    const item = own?.productId === id ? own : first.get(id)
    if (item) return { name: item.name, price: item.unitPrice, unit: item.unit, today: product?.price ?? item.unitPrice, ...rule }
    return product && { name: product.name, price: product.price, unit: product.unit, today: product.price, ...rule }
  }
}

/** For the script: the prices of what an order has, each with its quantity, by product. */
function keptPrices(kept: readonly OrderItem[] | undefined): string | undefined {
  if (!kept) return undefined
  const prices = new Map<string, [price: string, quantity: string][]>()
  for (const { productId, unitPrice, quantity } of kept) {
    const own = prices.get(productId) ?? []
    own.push([unitPrice, quantity])
    prices.set(productId, own)
  }
  return JSON.stringify(Object.fromEntries(prices))
}

/** Any quantity that the schema takes. */
const anyQuantity = { least: '0.001', step: '0.001' }

/**
 * A quantity as a number, which a browser checks by the product's rule. What the form starts with is the service's to
 * judge: a line that an order has stays as it is, and lines of one product may come to the minimum together.
 */
function asNumber(field: Field, rule: QuantityRule | undefined): Field {
  const value = field.value.trim()
  if (value !== '' && !/^\d+(\.\d{1,3})?$/.test(value)) return field
  const own = rule && { least: plain(leastQuantity(rule)), step: plain(rule.step) }
  const isMet = !rule || value === '' || (isMultiple(decimal(value), rule.step) && compare(decimal(value), leastQuantity(rule)) >= 0)
  const { least, step } = isMet && own ? own : anyQuantity
  const { pattern: _pattern, ...attributes } = field.attributes
  return { ...field, value, attributes: { ...attributes, type: 'number', min: least, step } }
}

/** An order of more lines, or with longer texts, is changed as a document: its form would be larger than any page should be. */
const mostFormLines = 100
const mostFormTexts = 64 * 1024

/** Whether an order can be changed by a form. */
export function fitsForm({ items, notes, extensions }: Pick<Order, 'items' | 'notes' | 'extensions'>): boolean {
  if (items.length > mostFormLines) return false
  const texts = [...notes, ...extensions.map(({ value }) => value), ...items.flatMap((item) => item.notes)]
  return texts.reduce((sum, text) => sum + text.length, 0) <= mostFormTexts
}

/** Whether a page has room for the lines that a form was sent with. */
export function hasRoom(values: Values): boolean {
  return lineCount(values) <= mostFormLines
}

/** The fields of the first lines, and all others. */
function firstLines(values: Values, most: number): { readonly values: Values; readonly left: number } {
  const numbers = [...new Set([...values.keys()].flatMap((name) => lineOf(name) ?? []))].sort((a, b) => a - b)
  const left = new Set(numbers.slice(most))
  if (left.size === 0) return { values, left: 0 }
  return { values: new Map([...values].filter(([name]) => !left.has(lineOf(name) ?? -1))), left: left.size }
}

/** How many lines the page of a refused form is tried with first: as many as it usually has room for. */
const linesTried = 50

/**
 * The form of what was refused, with as many of its lines as the answer has room for. Where some are left out, or were not
 * even kept, it cannot be sent: what is missing would be missing from the order.
 * @param isCut whether more was sent than `form.values` has
 * @param most bytes of the page
 * @returns undefined when not even the rest of the form fits
 */
export function renderRefusedForm(form: OrderForm, context: Context, isCut: boolean, most: number): string | undefined {
  for (let kept = linesTried; ; ) {
    const { values, left } = firstLines(form.values, kept)
    const isLeft = isCut || left > 0
    const page = renderOrderForm({ ...form, values, ...(isLeft ? { products: [], leftOut: true, moreRows: 0 } : {}) }, context)
    const size = Buffer.byteLength(page)
    if (size <= most) return page
    if (kept === 0) return undefined
    kept = Math.min(kept - 1, Math.floor((kept * 0.8 * most) / size))
  }
}

/** The order form: every field, and what it may hold, from the schema of orders. */
export function renderOrderForm(form: OrderForm, context: Context): string {
  const { values, problem } = form
  const lines = linesOf(values, form.moreRows)
  const numbers = [...lines.keys()]
  const allBlank = [...lines.values()].every((filled) => filled.length === 0)
  const isEmpty = allBlank && (problem?.errors ?? []).some(({ path }) => (path ?? '') === '')
  const faults = isEmpty ? [{ detail: missing.line, path: '' }] : (problem?.errors ?? []).map((fault) => inWords(fault, values))
  const known = describe(form)
  const next = form.moreRows === undefined ? undefined : numbers.find((number) => lines.get(number)?.length === 0)
  const notesOf = (number: number) => (lines.get(number) ?? []).filter((name) => name.startsWith(`item.${number}.note.`))
  const rowNames = numbers.flatMap((number) => [`item.${number}.product-id`, `item.${number}.quantity`, ...notesOf(number)])
  const inRows = new Set(rowNames)

  const drawRows = (errors: Errors) =>
    numbers.map((number, i) => {
      const required: Record<string, string> = i === 0 && allBlank && itemType.required ? { required: '' } : {}
      const name = `item.${number}`
      const id = values.get(`${name}.product-id`)?.trim() ?? ''
      const chosen = known(number, id)
      return {
        number,
        position: i + 1,
        product: fieldOf(childOf(itemType, 'product-id'), `${name}.product-id`, values, errors, {
          list: 'catalogue',
          ...inLine,
          ...(number === next ? { autofocus: '' } : {}),
          ...required
        }),
        quantity: asNumber(
          fieldOf(childOf(itemType, 'quantity'), `${name}.quantity`, values, errors, { ...inLine, ...required }),
          chosen?.rule
        ),
        notes: notesOf(number).map((one) => fieldOf(childOf(itemType, 'note'), one, values, errors, { autocomplete: 'off' })),
        hidden: (lines.get(number) ?? []).filter((one) => !inRows.has(one)).map((one) => [one, values.get(one)]),
        id,
        chosen,
        limits: chosen?.rule && { least: plain(leastQuantity(chosen.rule)), step: plain(chosen.rule.step) }
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
      keptPrices: keptPrices(form.kept),
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
