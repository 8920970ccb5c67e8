import t from 'tap'
import { defer, textOf } from '../../domain/deferred.ts'

interface Order {
  readonly id: string
  readonly customer?: string
  readonly items: readonly string[]
}

t.test('a deferred value can be used like any other', async (t) => {
  const order = defer<Order>('{"id":"1","items":["a","b"]}')
  t.equal(order.items.length, 2)
  t.same({ ...order, id: '2' }, { id: '2', items: ['a', 'b'] })
  t.equal(JSON.stringify(order), '{"id":"1","items":["a","b"]}')
  t.equal('customer' in order, false)
})

t.test('the known properties are read without parsing, absent ones too', async (t) => {
  const order = defer<Order>('not JSON', { id: '1', customer: undefined })
  t.equal(order.id, '1')
  t.equal(order.customer, undefined)
  t.throws(() => order.items, SyntaxError)
})

t.test('its text can be sent on; structured clone refuses the value, so that nobody parses it by mistake', async (t) => {
  const order = defer<Order>('{"id":"1","items":[]}')
  t.equal(textOf(order), '{"id":"1","items":[]}')
  t.equal(textOf({ id: '1' }), undefined)
  t.throws(() => structuredClone(order), { name: 'DataCloneError' })
})
