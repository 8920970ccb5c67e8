import t from 'tap'
import type { StockItem } from '../../domain/inventory.ts'
import { decimal } from '../../domain/money.ts'
import { keepsShippedPart, type Order, orderStatuses } from '../../domain/order.ts'
import {
  decideChange,
  decidePlacing,
  decideStatus,
  hasStatus,
  productsOfChange,
  productsOfStatus,
  type Shop
} from '../../domain/order-writes.ts'
import { item, placing, purchase, shopCurrency } from '../stores/fixtures.ts'

const hammer: StockItem = {
  id: 'a',
  name: 'Hammer',
  price: decimal('9.99'),
  unit: 'C62',
  backorder: false,
  onHand: decimal('10'),
  deleted: false
}

function shop(now: number, active?: Order): Shop {
  const isNumbered = (customer: string, number: string) => active?.customer === customer && active.orderNumber === number
  return {
    currency: shopCurrency,
    now,
    inventory: { byId: (id) => (id === 'a' ? hammer : undefined), byGtin: () => undefined },
    activeOrderNumbered: (customer, number) => (isNumbered(customer, number) ? active : undefined),
    activeIdNumbered: (customer, number) => (isNumbered(customer, number) ? active?.id : undefined),
    orderOfDocument: (_customer, digest) => (digest === 'known' ? { id: 'earlier', status: 'cancelled' } : undefined)
  }
}

const numbered = (quantity: number, orderNumber = 'PO-1') =>
  ({ order: purchase([item('a', quantity)], { orderNumber }), customer: 'acme', status: 'accepted' }) as const
const { order: placed } = decidePlacing(numbered(3), 'first', shop(100))
const withStatus = (status: Order['status']): Order => ({ ...placed, status })

t.test('a document that was sent before places no second order, and one with faults repeats none', async (t) => {
  const document = { mediaType: 'application/xml', answer: {} }
  t.equal(decidePlacing({ ...numbered(3), document: { ...document, digest: 'new' } }, 'x', shop(100)).outcome, 'placed')
  const known = { ...numbered(3), document: { ...document, digest: 'known' } }
  t.equal(decidePlacing(known, 'x', shop(100, placed)).outcome, 'repeated', 'while its order is active')
  t.throws(() => decidePlacing(known, 'x', shop(100)), {
    code: 'order-refused',
    faults: [{ code: 'sent-before', detail: /earlier.*cancelled/ }]
  })
  t.equal(decidePlacing({ ...known, customer: undefined as never }, 'x', shop(100)).outcome, 'placed', 'guests are known by nothing')
  const objections = { invalid: [], refused: [{ code: 'allowance-not-agreed' as const, detail: 'No.' }] }
  const faulty = { ...numbered(3), order: { ...numbered(3).order, objections } }
  t.throws(() => decidePlacing(faulty, 'x', shop(100, placed)), { code: 'order-refused', faults: [{ code: 'allowance-not-agreed' }] })
})

t.test('a new order has version 1, the time of the shop, and takes its stock', async (t) => {
  const { order, outcome, taken, events } = decidePlacing(placing('a', 3), 'x', shop(100))
  t.equal(outcome, 'placed')
  t.match(order, { id: 'x', version: 1, status: 'accepted', placedAt: 100, modifiedAt: 100, currency: 'EUR', total: '29.97' })
  t.notOk('customer' in order)
  t.same([...taken], [['a', '3']])
  t.strictSame(events, [{ type: 'order-placed', subject: 'x', version: 1, at: 100 }])
  t.equal(placed.customer, 'acme')
})

t.test('an order number again: the same content is the order there is, other content is refused', async (t) => {
  const again = decidePlacing(numbered(3), 'second', shop(200, placed))
  t.same([again.outcome, again.order, again.taken.size, again.events], ['repeated', placed, 0, []])
  t.throws(() => decidePlacing(numbered(4), 'second', shop(200, placed)), { code: 'order-number-taken', orderId: 'first' })
  t.equal(decidePlacing(numbered(3, 'PO-2'), 'second', shop(200, placed)).outcome, 'placed')
  t.equal(decidePlacing({ ...numbered(3), customer: 'other' }, 'second', shop(200, placed)).outcome, 'placed')
  const guests = { order: numbered(3).order, status: 'accepted' } as const
  t.equal(decidePlacing(guests, 'second', shop(200, placed)).outcome, 'placed', 'a guest has no numbers')
})

t.test('a change has a new version and takes the difference; its time never goes back', async (t) => {
  const { order, taken, events } = decideChange(placed, numbered(1).order, { version: 1 }, shop(200, placed))
  t.match(order, { id: 'first', customer: 'acme', version: 2, placedAt: 100, modifiedAt: 200, total: '9.99' })
  t.same([...taken], [['a', '-2']])
  t.strictSame(events, [{ type: 'order-changed', subject: 'first', version: 2, at: 200, customer: 'acme' }])
  t.match(decideChange(placed, numbered(1).order, {}, shop(50)), { order: { modifiedAt: 100 } })
})

t.test('an order is changed only before it ships, as it was read, and to a number that is free', async (t) => {
  const change = (before: Order, expected = {}, active?: Order) => decideChange(before, numbered(1).order, expected, shop(200, active))
  for (const status of orderStatuses.filter((status) => status !== 'received' && status !== 'accepted'))
    t.throws(() => change(withStatus(status)), {
      code: 'transition-refused',
      message: new RegExp(`^The order is ${status}: it can no longer be changed\\. To (order again|get more), send a new order`)
    })
  t.throws(() => change(placed, { version: 2 }), { code: 'precondition-failed' })
  t.throws(() => change(placed, {}, { ...placed, id: 'other' }), { code: 'order-number-taken', orderId: 'other' })
  t.doesNotThrow(() => change(placed, {}, placed), 'its own number is no hindrance')
})

t.test('a status has a new version; only an order that ends gives its stock back', async (t) => {
  const shipped = decideStatus(placed, 'shipped', { version: 1 }, shop(200))
  t.match(shipped, { change: { status: 'shipped', version: 2, modifiedAt: 200 } })
  t.equal(shipped?.taken.size, 0)
  t.same([...(decideStatus(placed, 'cancelled', {}, shop(200))?.taken ?? [])], [['a', '-3']])
  t.same([...(decideStatus(withStatus('received'), 'rejected', {}, shop(200))?.taken ?? [])], [['a', '-3']])
})

t.test('a change touches the products of the document and of the order, and a status those of an order that ends', async (t) => {
  t.same(productsOfChange(placed, purchase([item('b')])), [{ productId: 'b' }, { productId: 'a' }])
  t.same(productsOfStatus(placed, 'cancelled'), [{ productId: 'a' }])
  t.same(productsOfStatus(placed, 'shipped'), [])
  t.same(productsOfStatus(withStatus('cancelled'), 'rejected'), [])
})

t.test('a status makes its event, shipping by status two, and details for the buyer that of a change', async (t) => {
  const types = (decided: ReturnType<typeof decideStatus>) => decided?.events.map(({ type, version }) => `${type} ${version}`)
  t.same(types(decideStatus(placed, 'cancelled', {}, shop(200))), ['order-status-changed 2'])
  t.same(types(decideStatus(placed, 'shipped', {}, shop(200))), ['order-shipped 2', 'order-status-changed 2'])
  t.same(types(decideStatus(placed, 'accepted', {}, shop(200), { note: 'Soon.' })), ['order-changed 2'])
  const part = { ...placed, shipmentCount: 1, items: placed.items.map((line) => ({ ...line, shippedQuantity: decimal('1') })) }
  const cut = decideStatus(part, 'cancelled', {}, shop(200))
  t.match(cut, { change: { status: 'shipped' }, events: [{ type: 'order-status-changed', subject: 'first', at: 200, customer: 'acme' }] })
  t.equal(cut?.events.length, 1, 'cancelling the rest ships nothing')
  t.ok(cut?.rewritten && keepsShippedPart(cut.rewritten))
  t.notOk(keepsShippedPart(withStatus('cancelled')))
})

t.test('the status that an order has changes nothing, whatever the precondition', async (t) => {
  for (const status of orderStatuses) t.equal(decideStatus(withStatus(status), status, { version: 9 }, shop(200)), undefined)
})

t.test('the status alone tells whether an order has it, except that the rest of a shipped order may be cancelled', async (t) => {
  for (const current of orderStatuses)
    for (const status of orderStatuses) {
      const isPerhaps = status === 'cancelled' && (current === 'shipped' || current === 'completed')
      t.equal(hasStatus({ status: current }, status), current === status ? 'yes' : isPerhaps ? 'perhaps' : 'no', `${current}, ${status}`)
    }
  for (const status of ['shipped', 'completed'] as const) {
    t.equal(decideStatus({ ...withStatus(status), isRestCancelled: true }, 'cancelled', { version: 9 }, shop(200)), undefined, status)
    t.throws(() => decideStatus(withStatus(status), 'cancelled', {}, shop(200)), { code: 'transition-refused' }, status)
  }
})

t.test('a status that does not follow is refused, after the precondition', async (t) => {
  const refused = (from: Order['status'], to: Order['status'], message: string) =>
    t.throws(() => decideStatus(withStatus(from), to, {}, shop(200)), { code: 'transition-refused', message })
  refused('accepted', 'completed', 'The order is accepted and cannot become completed: it can become shipped or cancelled.')
  refused('completed', 'cancelled', 'The order is completed: it can no longer be cancelled. To return goods, ask the seller.')
  t.throws(() => decideStatus(placed, 'completed', { version: 2 }, shop(200)), { code: 'precondition-failed' })
})
