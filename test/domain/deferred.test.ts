import t from 'tap'
import {
  charactersOf,
  defer,
  fromJson,
  includesText,
  joinTexts,
  listed,
  mostInline,
  stringOf,
  textOf,
  withProperties
} from '../../domain/deferred.ts'
import { watchParses } from '../parses.ts'

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

t.test('a value of bytes is used as one of a string, and its bytes are sent on as they are', async (t) => {
  const text = '{"id":"1","items":["ü","螺","🔩"]}'
  const bytes = Buffer.from(text)
  const parsed = watchParses(t)
  const order = defer<Order>(bytes, { id: '1' })
  t.equal(textOf(order), bytes)
  t.equal(order.id, '1')
  t.same(parsed, [])
  t.same(order, JSON.parse(text))
  t.same(parsed, [bytes.length])
  t.same(fromJson(bytes), JSON.parse(text))
  t.type(textOf(fromJson(Buffer.from(`{"note":"${'ü'.repeat(mostInline)}"}`))), Uint8Array)
})

t.test('texts of bytes are joined, searched and counted without decoding them', async (t) => {
  const parsed = watchParses(t)
  const wide = '{"notes":["ü","螺","🔩"]}'
  const part = new Uint8Array(Buffer.from(`..${wide}..`)).subarray(2, -2)
  const joined = joinTexts(['[', part, ']'])
  t.type(joined, Uint8Array)
  t.type(withProperties({ id: 'ü' }, part), Uint8Array)
  t.equal(includesText(part, '"notes"'), true)
  t.equal(includesText(part, '"note"'), false)
  t.equal(charactersOf(part), wide.length)
  t.same(parsed, [])
  t.equal(stringOf(joined), `[${wide}]`)
  t.equal(stringOf(withProperties({ id: 'ü' }, part)), `{"id":"ü",${wide.slice(1)}`)
  t.equal(joinTexts(['[', wide, ']']), `[${wide}]`, 'strings stay a string')
  t.same(listed([['1'], ['[', '2', ']'], ['3']]), ['1', ',', '[', '2', ']', ',', '3'])
  t.equal(withProperties({ id: 'ü' }, wide), `{"id":"ü",${wide.slice(1)}`)
})
