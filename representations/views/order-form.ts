import { type Caller, hasScope } from '../../domain/caller.ts'
import { plain } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { childType, type ElementType, rootType } from '../../schemas/vocabulary.ts'
import { type Notice, refusalNotice } from '../notice.ts'
import { isHidden, type ProblemDocument } from '../problem.ts'
import type { Context } from '../representation.ts'
import { renderPage, type Title } from '../views.ts'
import { type Errors, type Field, fieldOf, noErrors, type Values } from './fields.ts'
import { label } from './format.ts'
import { errorsOf, invalidNotice, isOneOf, mayBePlaced, notFound, reusedNotice } from './order-form-errors.ts'
import { firstLines, isAllBlank, type Lines, lineOf, linesOf, linesWithin } from './order-form-lines.ts'
import {
  catalogueOptions,
  type FormProducts,
  keptPrices,
  noProducts,
  priceText,
  productFinder,
  quantityLimits,
  shippedText,
  shownPrice
} from './order-form-products.ts'
import { scriptData } from './order-form-script.ts'

/** The content of the form for a new order or for a change to one. */
export interface OrderForm {
  readonly title: Title
  readonly action: string
  readonly values: Values
  /** For a new order: it makes a second post harmless. */
  readonly idempotencyKey?: string
  /** For a change: the entity tag of the version that was read. */
  readonly tag?: string
  /** For a change: the order's current lines, which keep their price. */
  readonly kept?: readonly OrderItem[]
  readonly problem?: ProblemDocument
  readonly products: FormProducts
  /** The number of further lines that the user asked for; 0 only looks up the products that were entered. */
  readonly moreRows?: number
  readonly guestsMayOrder: boolean
  /** Whether some of the sent lines are missing, so that the form cannot be sent again. */
  readonly leftOut?: boolean
}

interface Group {
  readonly name: string
  readonly label: string
  readonly fields: readonly Field[]
}

/** Attributes of the fields of a line. Enter moves to the next line. */
const lineAttributes = { autocomplete: 'off', enterkeyhint: 'next' } as const

const orderType = rootType(orderXsd, 'purchase-order')
const itemType = childType(orderType, 'item')

/** Elements that have no fields in the form besides the lines. If a changed order has them, hidden inputs keep their values. */
const withoutField = ['item', 'issue-date', 'currency', 'extension']

/** HTML's autofill names for the elements of a party (HTML Living Standard, 4.10.18.7). */
const autofill: Readonly<Record<string, string>> = {
  name: 'organization',
  contact: 'name',
  email: 'email',
  phone: 'tel',
  street: 'address-line1',
  'additional-street': 'address-line2',
  city: 'address-level2',
  'postal-code': 'postal-code',
  region: 'address-level1',
  country: 'country'
}
/** Hints for elements whose labels do not say how to write them. */
const hints: Readonly<Record<string, string>> = {
  'order-number': 'Your own number for this order, if you have one',
  country: 'Two letters, such as DE'
}

function withHint(field: Field, { name }: ElementType): Field {
  const hint = hints[name]
  return hint === undefined ? field : { ...field, hint }
}

const autofillSections: Readonly<Record<string, string>> = { 'ship-to': 'shipping ', 'bill-to': 'billing ' }

/** A field that the service checks, not the browser. The service's message says what to do; a browser's only names the format. */
function withoutPattern(field: Field): Field {
  const { pattern: _pattern, ...attributes } = field.attributes
  return { ...field, attributes }
}

function groupOf(type: ElementType, values: Values, errors: Errors): Group {
  const leaves = (parent: ElementType, place: string): Field[] =>
    parent.children.flatMap((child) => {
      const name = `${place}.${child.name}`
      if (!child.text) return leaves(child, name)
      const fill = autofill[child.name]
      const field = fieldOf(child, name, values, errors, { autocomplete: fill ? `${autofillSections[type.name] ?? ''}${fill}` : 'off' })
      // A browser would silently refuse to send the form if a pattern failed in a closed section.
      return [withHint(withoutPattern(field), child)]
    })
  return { name: type.name, label: label(type.name), fields: leaves(type, type.name) }
}

/** The notice at the top of a refused form. */
function noticeOf({ problem, tag }: OrderForm, { base }: Context): Notice | undefined {
  if (problem?.status === 412) {
    return {
      ...refusalNotice(problem, 'the order'),
      detail: 'What you sent was not stored, but it is still here. Check the order as it stands, and send this again if you still want it.'
    }
  }
  if (problem?.status === 401) return refusalNotice(problem, 'the order')
  if (problem && isOneOf(problem, reusedNotice.codes, base)) {
    return { kind: 'problem', title: reusedNotice.title, detail: reusedNotice.detail }
  }
  if (problem?.errors && isOneOf(problem, invalidNotice.codes, base)) {
    return { kind: 'problem', title: invalidNotice.title, detail: invalidNotice.detail }
  }
  if (problem && tag !== undefined && isOneOf(problem, ['order-refused'], base)) {
    return { kind: 'problem', title: 'The order cannot be changed now', detail: problem.detail }
  }
  return problem && { kind: 'problem', title: problem.title, detail: problem.detail }
}

/** Leaves out of the texts the id of the order that a problem links to. */
function withoutOrderId(problem: ProblemDocument): ProblemDocument {
  const { order, detail, errors } = problem
  if (order === undefined) return problem
  const shorter = (text: string) => text.replace(`: ${order.slice(order.lastIndexOf('/') + 1)}`, '')
  const faults = errors?.map((error) => ({ ...error, detail: shorter(error.detail) }))
  return { ...problem, detail: shorter(detail), ...(faults && { errors: faults }) }
}

/** The customer who filled in a form that was refused because they are no longer signed in. It must not become another's, or a guest's. */
function originalCustomer({ problem, values }: OrderForm): string | undefined {
  return problem?.status === 401 ? values.get('_customer') : undefined
}

/** Whether the user must sign in to send the form again. To change an order, they may have to do so as another customer. */
function mustSignIn({ problem, idempotencyKey }: OrderForm): boolean {
  if (!problem) return false
  return idempotencyKey === undefined ? isHidden(problem) : problem.status === 401
}

function customerOf(caller: Caller): string | undefined {
  return caller.kind === 'key' ? caller.customer : undefined
}

/** The first attempt to render a refused form has at most this many lines, which usually fit. The second has as many as fit, going by the first. */
const firstAttemptLines = 50

/** A line can have 100 notes, and each is a field. */
const firstAttemptFields = 150

/**
 * Renders a refused form with as many of its lines as fit. If some are left out, the page has no button to send the form,
 * since the order would lack them.
 * @param isCut whether the client sent more than `form.values` has
 * @param maxBytes the largest size of the page
 * @returns undefined when the form does not fit even without lines
 */
export function renderRefusedForm(form: OrderForm, context: Context, isCut: boolean, maxBytes: number): string | undefined {
  // An attempt may take 5 ms, and all of them are one task of the serving thread. So the third, without lines, is the last.
  for (let attempt = 1, kept = Math.min(firstAttemptLines, linesWithin(form.values, firstAttemptFields)); ; attempt++) {
    const { values, left } = firstLines(form.values, kept)
    const isLeft = isCut || left > 0
    const page = renderOrderForm({ ...form, values, ...(isLeft ? { products: noProducts, leftOut: true, moreRows: 0 } : {}) }, context)
    const size = Buffer.byteLength(page)
    if (size <= maxBytes) return page
    if (kept === 0) return undefined
    kept = attempt === 1 ? Math.min(kept - 1, Math.floor((kept * 0.8 * maxBytes) / size)) : 0
  }
}

/** The names of the fields that a line shows. */
function fieldsOfLine(number: number, filled: readonly string[]) {
  const notes = filled.filter((name) => name.startsWith(`item.${number}.note.`))
  const [product, quantity] = [`item.${number}.product-id`, `item.${number}.quantity`]
  return { product, quantity, notes, all: [product, quantity, ...notes] }
}

const isPrice = (name: string) => name.endsWith('.unit-price')

/** The rows of the form, one for each line. A new order expects the prices that its page shows. */
function makeRows({ values, products, kept, moreRows, idempotencyKey }: OrderForm, lines: Lines, errors: Errors, currency: string) {
  const isNew = idempotencyKey !== undefined
  const known = productFinder(products.named, kept)
  const isBlank = isAllBlank(lines)
  const isLookedUp = moreRows !== undefined && products !== noProducts
  const next = moreRows === undefined ? undefined : [...lines].find(([, filled]) => filled.length === 0)?.[0]
  return [...lines].map(([number, filled], i) => {
    const required: Record<string, string> = i === 0 && isBlank && itemType.required ? { required: '' } : {}
    const names = fieldsOfLine(number, filled)
    const id = values.get(names.product)?.trim() ?? ''
    const chosen = known(number, id)
    const fieldOfLine = (element: string, name: string, more: Readonly<Record<string, string>> = {}) =>
      withoutPattern(fieldOf(childType(itemType, element), name, values, errors, { ...more, ...lineAttributes, ...required }))
    const product = fieldOfLine('product-id', names.product, { list: 'catalogue', ...(number === next ? { autofocus: '' } : {}) })
    const quantity = fieldOfLine('quantity', names.quantity)
    const shown = chosen && isNew && shownPrice(number, id, chosen.price)
    const unshown = filled.filter((one) => !names.all.includes(one) && !(shown && isPrice(one)))
    return {
      number,
      position: i + 1,
      product: isLookedUp && id !== '' && !chosen ? { ...product, errors: [...product.errors, notFound] } : product,
      quantity: chosen?.shipped ? { ...quantity, hint: shippedText(chosen.shipped, chosen.unit) } : quantity,
      notes: names.notes.map((one) => fieldOf(childType(itemType, 'note'), one, values, errors, { autocomplete: 'off' })),
      hidden: [...(shown ? [shown] : []), ...unshown.map((one) => [one, values.get(one)])],
      id,
      chosen,
      price: chosen && priceText(chosen, currency),
      limits: chosen?.rule && quantityLimits(chosen.rule),
      shipped: chosen?.shipped && plain(chosen.shipped)
    }
  })
}

/** The fields of the form besides its lines. */
function makeOtherFields(values: Values, errors: Errors) {
  const asked = orderType.children.filter(({ name }) => !withoutField.includes(name))
  const loose = asked
    .filter(({ text }) => text)
    .map((type) => withHint(fieldOf(type, type.repeatable ? `${type.name}.1` : type.name, values, errors, { autocomplete: 'off' }), type))
  return { loose, groups: asked.filter(({ text }) => !text).map((type) => groupOf(type, values, errors)) }
}

/** The names of the fields that the page shows, in its order. */
function namesOnPage(values: Values, lines: Lines): readonly string[] {
  const { loose, groups } = makeOtherFields(values, noErrors)
  const others = [...loose, ...groups.flatMap(({ fields }) => fields)]
  return [...[...lines].flatMap(([number, filled]) => fieldsOfLine(number, filled).all), ...others.map(({ name }) => name)]
}

/** Renders the order form. Its fields and their constraints come from the schema of orders. */
export function renderOrderForm(form: OrderForm, context: Context): string {
  const { values } = form
  const problem = form.problem && withoutOrderId(form.problem)
  const lines = linesOf(values, form.moreRows)
  const shown = namesOnPage(values, lines)
  const { errors, listed } = errorsOf(values, problem?.errors ?? [], lines, shown)
  const isShown = new Set(shown)
  const hasNoField = (name: string) => !isShown.has(name) && lineOf(name) === undefined && !name.startsWith('_')
  return renderPage(
    'order-form',
    form.title,
    {
      form,
      catalogueOptions: catalogueOptions(form.products),
      rows: makeRows(form, lines, errors, context.currency),
      ...makeOtherFields(values, errors),
      hidden: [...values].filter(([name, value]) => hasNoField(name) && value !== ''),
      listed,
      refusal: noticeOf(problem ? { ...form, problem } : form, context),
      mustSignIn: mustSignIn(form),
      customer: originalCustomer(form) ?? customerOf(context.caller),
      mayOrder: hasScope(context.caller, 'order'),
      keptPrices: keptPrices(form.kept),
      draft: draftUse(form, context),
      script: scriptData(context)
    },
    context
  )
}

/**
 * Decides what the script does with the draft of a new order, which the browser keeps: a blank form has it restored, and a form that
 * comes back replaces it. Undefined: the form is no draft. It may be placed already, or some of its lines are missing.
 */
function draftUse({ idempotencyKey, problem, moreRows, leftOut }: OrderForm, { base }: Context): 'restored' | 'replaced' | undefined {
  if (idempotencyKey === undefined || leftOut || (problem && mayBePlaced(problem, base))) return undefined
  return problem || moreRows !== undefined ? 'replaced' : 'restored'
}
