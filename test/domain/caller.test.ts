import t from 'tap'
import { type Caller, guest, mayCancel, onlyListedCustomer, type Scope, settableStatuses } from '../../domain/caller.ts'

const key = (customer: string, ...scopes: readonly Scope[]): Caller => ({ kind: 'key', keyId: 'k_1', customer, scopes })
const own = { customer: 'acme', status: 'received' } as const

t.test('an order is cancelled by whoever may change it, until it ships', async (t) => {
  t.ok(mayCancel(key('acme', 'order'), own))
  t.ok(mayCancel(key('acme', 'order'), { ...own, status: 'accepted' }))
  t.notOk(mayCancel(key('acme', 'order'), { ...own, status: 'shipped' }))
  t.notOk(mayCancel(key('other', 'order'), own))
  t.notOk(mayCancel(key('acme', 'fulfilment'), own))
  t.notOk(mayCancel(guest, own))
  t.ok(mayCancel(guest, { status: 'received' }))
})

t.test('only the scope fulfilment sets statuses, and only those that may follow', async (t) => {
  t.same(settableStatuses(key('erp', 'fulfilment'), own), ['accepted', 'rejected', 'cancelled'])
  t.same(settableStatuses(key('erp', 'fulfilment'), { status: 'completed' }), [])
  t.same(settableStatuses(key('acme', 'order', 'catalogue'), own), [])
  t.same(settableStatuses(guest, own), [])
})

t.test('a key lists the orders of its customer, and those of all with the scope fulfilment', async (t) => {
  t.equal(onlyListedCustomer(key('acme', 'order')), 'acme')
  t.equal(onlyListedCustomer(key('erp', 'order', 'fulfilment')), undefined)
})
