import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { mayChange, mayEdit } from '../domain/caller.ts'
import { charactersOf, mostBytesOfCharacter, textOf } from '../domain/deferred.ts'
import { acceptedItems } from '../domain/line-answers.ts'
import type { Order } from '../domain/order.ts'
import type { TypedForm } from '../http/form-post.ts'
import { Problem } from '../http/problem.ts'
import { mostBytes } from '../http/problem-size.ts'
import type { FormPages } from '../plugins/form-pages.ts'
import { uris } from '../representations/links.ts'
import { againValues, type BlankOrder, blankValues, newOrderTitle, orderName, orderValues } from '../representations/order.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import type { Values } from '../representations/views/fields.ts'
import { type OrderForm, renderOrderForm, renderRefusedForm } from '../representations/views/order-form.ts'
import { isOneOf, spentKeyCodes } from '../representations/views/order-form-errors.ts'
import { fitsForm, hasRoom, lineCount } from '../representations/views/order-form-lines.ts'
import { type FormProducts, noProducts } from '../representations/views/order-form-products.ts'
import { formProducts, withoutBarcodes } from './product-options.ts'

/** The form of an order with the values that a person typed into it. */
interface TypedOrder extends Omit<TypedForm, 'fields'> {
  readonly values: Values
}

/** The forms that an order's page leads its buyer to, as the query names them: one changes the order, one orders the same again. */
export const orderFormNames = ['change', 'again'] as const

type OrderFormName = (typeof orderFormNames)[number]

/** The forms that place and change an order. */
export interface OrderForms {
  /** Writes a blank order with the data that its page shows besides its products' ids. Other representations show none. */
  blank(request: FastifyRequest, lines: BlankOrder, write: (form: Pick<BlankOrder, 'form'>) => void): Promise<void>
  /** The pages of the form that places an order. */
  readonly newOrder: FormPages
  /** Sends a form of an order. @returns false if the answer is not HTML, or the caller or a form cannot do this with the order */
  sendForm(request: FastifyRequest, reply: FastifyReply, order: Order, name: OrderFormName): Promise<boolean>
  /** The form that changes an order, with what the caller typed. */
  change(request: FastifyRequest, current: Order, typed: TypedOrder, problem?: ProblemDocument): Promise<string | undefined>
  /** The form for a caller who cannot see the order now (signed out, for example): it shows only what the caller sent. */
  withoutOrder(request: FastifyRequest, orderId: string, typed: TypedOrder, problem: ProblemDocument): Promise<string | undefined>
  /** @throws Problem `invalid-document` when it has more lines than an order can have */
  typed(form: TypedForm): TypedOrder
  /** The posted form with product numbers for barcodes. @throws Problem `invalid-document` when a page cannot show all of them */
  lookedUp(request: FastifyRequest, form: TypedForm): Promise<TypedOrder>
}

/** The longest order, in characters of JSON, that has a change form. The serving thread parses it. */
const mostCharacters = 192 * 1024

function isSmall(order: Order): boolean {
  const text = textOf(order) ?? ''
  // Characters are counted only in a text that is not too long already by its bytes.
  return text.length <= mostBytesOfCharacter * mostCharacters && charactersOf(text) <= mostCharacters
}

export function orderForms(config: Config): OrderForms {
  const uri = uris(config.BASE_URL.path)
  const guestsMayOrder = config.GUEST_ORDERS

  /** The form as a page. A refused form shows as much as a problem's answer has room for. @returns undefined when nothing of it fits */
  function render(request: FastifyRequest, form: OrderForm, typed?: TypedOrder, problem?: ProblemDocument): string | undefined {
    const shown = typed?.moreRows === undefined ? form : { ...form, moreRows: typed.moreRows }
    if (!problem) return renderOrderForm(shown, request.context())
    return renderRefusedForm({ ...shown, problem }, request.context(), typed?.isCut ?? false, mostBytes)
  }

  function typed({ fields, ...form }: TypedForm): TypedOrder {
    const values = new Map(fields)
    if (lineCount(values) <= config.MAX_ORDER_ITEMS) return { ...form, values }
    throw new Problem('invalid-document', `An order can have ${config.MAX_ORDER_ITEMS} lines at most. Nothing was stored.`)
  }

  async function lookedUp(request: FastifyRequest, form: TypedForm): Promise<TypedOrder> {
    const order = typed(form)
    if (!order.isCut && hasRoom(order.values)) {
      return { ...order, values: await request.inTurn(() => withoutBarcodes(request, order.values)) }
    }
    throw new Problem(
      'invalid-document',
      'The form has more lines than a page has room for. Nothing was stored. Send the order as it is, or as XML or JSON.'
    )
  }

  /** Finds the products of a page, and writes it. Each takes milliseconds, so each has a turn. */
  async function withProducts<T>(request: FastifyRequest, values: Values, write: (products: FormProducts) => T): Promise<T> {
    const products = await request.inTurn(() => formProducts(request, values))
    return request.inTurn(() => write(products))
  }

  async function newOrderForm(request: FastifyRequest, typed: TypedOrder, problem?: ProblemDocument) {
    const { values } = typed
    const key = request.operation.idempotencyKey
    const form = {
      title: newOrderTitle,
      action: uri.placeOrder,
      values,
      idempotencyKey: key && !(problem && isOneOf(problem, spentKeyCodes, config.BASE_URL.path)) ? key : randomUUID(),
      guestsMayOrder
    }
    return withProducts(request, values, (products) => render(request, { ...form, products }, typed, problem))
  }

  async function change(request: FastifyRequest, current: Order, typed?: TypedOrder, problem?: ProblemDocument) {
    const values = typed?.values ?? orderValues(current, request.context())
    // After a 412, offer the current ETag so that the user can resubmit.
    const readTag = typed && problem?.status !== 412 ? request.operation.ifMatch : undefined
    const form = {
      title: ['Change order ', orderName(current)],
      action: uri.order(current.id),
      values,
      tag: readTag ?? request.formTag(current) ?? '',
      kept: isSmall(current) ? acceptedItems(current.items) : [],
      guestsMayOrder
    }
    return withProducts(request, values, (products) => render(request, { ...form, products }, typed, problem))
  }

  /** Each form of an order. Undefined: it is not for this caller. */
  const formOf: Readonly<Record<OrderFormName, (request: FastifyRequest, order: Order) => Promise<string | undefined>>> = {
    change: async (request, order) => (mayEdit(request.caller, order) ? change(request, order) : undefined),
    again: async (request, order) =>
      mayChange(request.caller, order) ? newOrderForm(request, { values: againValues(order), isCut: false }) : undefined
  }

  return {
    async blank(request, lines, write) {
      if (!request.isPage) return write({})
      const values = blankValues(lines)
      await withProducts(request, values, (products) => write({ form: { idempotencyKey: randomUUID(), products, guestsMayOrder } }))
    },
    newOrder: {
      refused: async (request, problem, form) => newOrderForm(request, typed(form), problem),
      more: async (request, form) => newOrderForm(request, await lookedUp(request, form))
    },
    async sendForm(request, reply, order, name) {
      if (!request.isPage || !isSmall(order) || !fitsForm(order)) return false
      const form = await formOf[name](request, order)
      if (form === undefined) return false
      reply.sendForm(form)
      return true
    },
    change,
    withoutOrder(request, orderId, typed, problem) {
      const form = {
        title: 'Change an order',
        values: typed.values,
        tag: request.operation.ifMatch ?? '',
        products: noProducts,
        guestsMayOrder
      }
      return request.inTurn(() => render(request, { ...form, action: uri.order(orderId) }, typed, problem))
    },
    typed,
    lookedUp
  }
}
