import t from 'tap'
import { guest } from '../../domain/caller.ts'
import { type OrderForm, renderOrderForm } from '../../representations/views/order-form.ts'
import { noProducts } from '../../representations/views/order-form-products.ts'

const context = { base: '', currency: 'EUR', shop: 'Shop', caller: guest, self: '/order' }
const blank = { title: 'Order', action: '/order', values: new Map(), products: noProducts, guestsMayOrder: true }
const opened = { ...blank, idempotencyKey: 'key' }
const refused = (status: number) => ({ type: '/problems/x', title: 'No', status, detail: 'No.', instance: '/order' })

/** What the page tells its script about the draft, and whether it has a place for the notice that a draft was restored. */
function draftOf(form: OrderForm) {
  const page = renderOrderForm(form, context)
  return [/ data-draft="(.*?)"/.exec(page)?.[1], page.includes('id="restored"')]
}

t.test('a draft is restored into the form that opens a new order', async (t) => {
  t.same(draftOf(opened), ['restored', true])
})

t.test('a form that comes back has what was sent, and replaces the draft', async (t) => {
  t.same(draftOf({ ...opened, problem: refused(422) }), ['replaced', false])
  t.same(draftOf({ ...opened, moreRows: 0 }), ['replaced', false])
})

t.test('a change, a form without some of its lines, and an order that may be placed already are no drafts', async (t) => {
  t.same(draftOf({ ...blank, tag: '"1"' }), [undefined, false])
  t.same(draftOf({ ...opened, problem: refused(422), leftOut: true }), [undefined, false])
  t.same(draftOf({ ...opened, problem: refused(503) }), [undefined, false])
  const inFlight = { ...refused(409), type: '/problems/idempotency-in-flight' }
  t.same(draftOf({ ...opened, problem: inFlight }), [undefined, false], 'the first request still runs')
})
