import { type Caller, hasScope } from '../../domain/caller.ts'
import { minorUnit } from '../../domain/money.ts'
import type { Product } from '../../domain/product.ts'
import type { LocatedFault } from '../../schemas/document.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import type { ElementType } from '../../schemas/vocabulary.ts'
import { uris } from '../links.ts'
import type { ProblemDocument } from '../problem.ts'
import type { Context } from '../representation.ts'
import { type Notice, renderPage } from '../views.ts'
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
  readonly problem?: ProblemDocument
  /** To choose from, and those that the lines name. */
  readonly products: readonly Product[]
  readonly moreRows?: number
  readonly guestsMayOrder: boolean
}

interface Group {
  readonly name: string
  readonly label: string
  readonly fields: readonly Field[]
}

const spareRows = 4

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
      return [fieldOf(child, name, values, errors, { autocomplete: fill ? `${autofillSections[type.name] ?? ''}${fill}` : 'off' })]
    })
  return { name: type.name, label: label(type.name), fields: leaves(type, type.name) }
}

/** The numbers of the lines that the form had, and blank ones after them; of an order or a first form, those with something in them. */
function rowNumbers(values: Values, moreRows: number): readonly number[] {
  const found = new Set<number>()
  for (const name of values.keys()) {
    const number = /^item\.(\d{1,9})\./.exec(name)?.[1]
    if (number !== undefined) found.add(Number(number))
  }
  const rows = [...found].sort((a, b) => a - b)
  const total = Math.max(spareRows, rows.length + moreRows)
  for (let next = (rows.at(-1) ?? 0) + 1; rows.length < total; next++) rows.push(next)
  return rows
}

function isBlank(values: Values, number: number): boolean {
  return [...values].every(([name, value]) => !name.startsWith(`item.${number}.`) || value.trim() === '')
}

/** What the schema says of a line that is only half filled in, as a person would say it. */
function inWords(fault: LocatedFault, values: Values): LocatedFault {
  const line = /^item\.\d+(?=\.quantity$|$)/.exec(fault.path ?? '')?.[0]
  if (line === undefined || fault.code !== undefined) return fault
  const has = (name: string) => (values.get(`${line}.${name}`) ?? '').trim() !== ''
  if (!has('product-id') && !has('gtin')) return { detail: 'Choose a product for this line.', path: `${line}.product-id` }
  return has('quantity') ? fault : { detail: 'Say how many of this product.', path: `${line}.quantity` }
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

function customerOf(caller: Caller): string | undefined {
  return caller.kind === 'key' && hasScope(caller, 'order') ? caller.customer : undefined
}

/** The order form: every field, and what it may hold, from the schema of orders. */
export function renderOrderForm(form: OrderForm, context: Context): string {
  const { values, problem } = form
  const numbers = rowNumbers(values, form.moreRows ?? 0)
  const allBlank = numbers.every((number) => isBlank(values, number))
  const isEmpty = allBlank && (problem?.errors ?? []).some(({ path }) => (path ?? '') === '')
  const faults = isEmpty
    ? [{ detail: 'The order has no line yet: choose a product and say how many.', path: '' }]
    : (problem?.errors ?? []).map((fault) => inWords(fault, values))
  const rowNames = numbers.flatMap((number) => ['product-id', 'quantity'].map((name) => `item.${number}.${name}`))

  const draw = (errors: Errors) => {
    const rows = numbers.map((number, i) => {
      const required: Record<string, string> = i === 0 && allBlank && itemType.required ? { required: '' } : {}
      const name = `item.${number}`
      const id = values.get(`${name}.product-id`)?.trim()
      return {
        number,
        position: i + 1,
        product: fieldOf(childOf(itemType, 'product-id'), `${name}.product-id`, values, errors, {
          list: 'catalogue',
          autocomplete: 'off',
          ...required
        }),
        quantity: fieldOf(childOf(itemType, 'quantity'), `${name}.quantity`, values, errors, { autocomplete: 'off', ...required }),
        chosen: form.products.find((product) => product.id === id)
      }
    })
    const asked = (orderType?.children ?? []).filter(({ name }) => !notAsked.includes(name))
    const loose = asked
      .filter(({ text }) => text)
      .map((type) => fieldOf(type, type.repeatable ? `${type.name}.1` : type.name, values, errors, { autocomplete: 'off' }))
    const groups = asked.filter(({ text }) => !text).map((type) => groupOf(type, values, errors))
    return { rows, loose, groups }
  }
  const blank = draw(placeErrors([], () => undefined))
  const shown = [
    ...rowNames,
    ...blank.loose.map(({ name }) => name),
    ...blank.groups.flatMap(({ fields }) => fields.map(({ name }) => name))
  ]
  const errors = placeErrors(faults, fieldFinder(shown, values))
  const drawn = draw(errors)
  const hidden = [...values].filter(([name, value]) => !shown.includes(name) && !name.startsWith('_') && value !== '')
  const notice: Notice | undefined = problem && { kind: 'problem', title: problem.title, detail: problem.detail }
  const customer = customerOf(context.caller)
  return renderPage(
    'order-form',
    form.title,
    {
      form,
      ...drawn,
      hidden,
      errors,
      problem: notice,
      signInNeeded: problem?.status === 401,
      customer,
      shop: undefined,
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
    currency,
    digits: minorUnit(currency)
  }
}
