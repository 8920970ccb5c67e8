import t from 'tap'
import { type Caller, guest, type Scope } from '../../domain/caller.ts'
import { audienceOf, eventTypes } from '../../domain/event.ts'

const key = (...scopes: readonly Scope[]): Caller => ({ kind: 'key', keyId: 'k_1', customer: 'acme', scopes })

const orders = ['order-placed', 'order-changed', 'order-status-changed', 'order-shipped']
const products = ['product-created', 'product-changed', 'product-deleted']

t.test('a guest hears nothing', async (t) => {
  t.same(audienceOf(guest), { types: [] })
})

t.test('the scope order hears products, and its own orders and webhooks', async (t) => {
  t.same(audienceOf(key('order')), { types: products, own: { customer: 'acme', types: [...orders, 'webhook-disabled'] } })
})

t.test('the scope catalogue hears products and stock, and its own webhooks', async (t) => {
  const own = { customer: 'acme', types: ['webhook-disabled'] }
  t.same(audienceOf(key('catalogue')), { types: [...products, 'stock-set'], own })
})

t.test('the scope fulfilment hears all orders, products and webhooks', async (t) => {
  t.same(audienceOf(key('fulfilment')), { types: [...orders, ...products, 'webhook-disabled'] })
})

t.test('a key with all scopes hears everything', async (t) => {
  const { types, own } = audienceOf(key('order', 'catalogue', 'fulfilment'))
  t.same(new Set(types), new Set(eventTypes))
  t.equal(own, undefined)
})
