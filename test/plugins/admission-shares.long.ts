import t from 'tap'
import type { JsonText } from '../../domain/deferred.ts'
import { build, xml } from '../build.ts'
import { holdWrites } from './hold-writes.ts'

const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'

t.test('the orders that one caller reads take 12 MiB at most', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': { name: '螺栓', onHand: '1000000' as never } } })
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const { headers } = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, prefer: 'return=minimal' }, payload })
  const { letGo, waiting } = holdWrites(t, app, async () => Buffer.from('<order/>'))
  const { write } = app.documents
  let text = '' as JsonText
  app.documents.write = (...given) => {
    text = given[3]
    return write(...given)
  }
  let refusals = 0
  const asked = Array.from({ length: 60 }, async () => {
    const { statusCode } = await app.inject({ url: String(headers.location), headers: { accept: 'application/xml' } })
    if (statusCode === 503) refusals++
  })
  while (waiting() + refusals < asked.length) await new Promise(setImmediate)
  const share = 12 * 1024 * 1024
  const size = typeof text === 'string' ? 2 * text.length : text.length
  // Until an order is read, it may become a string of wide characters. The last one needs that room, too.
  const unread = 2 * Buffer.byteLength(text)
  t.equal(waiting(), 1 + Math.floor((share - unread) / size), `orders of ${size} bytes`)
  letGo()
  await Promise.all(asked)
})

t.test('the orders that all customers of one address read take 16 MiB at most', async (t) => {
  const { app, key } = await build(t, { products: { 'ABC-1': { name: '螺栓', onHand: '1000000' as never } } })
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const customers = await Promise.all(
    ['A', 'B', 'C', 'D'].map(async (customer) => {
      const headers = await key(customer, 'order')
      const placed = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers, prefer: 'return=minimal' }, payload })
      return { headers, url: String(placed.headers.location) }
    })
  )
  const ask = async ({ headers, url }: { headers: object; url: string }, remoteAddress: string) =>
    (await app.inject({ url, remoteAddress, headers: { ...headers, accept: 'application/xml' } })).statusCode
  const last = customers.at(-1)
  if (!last) throw new Error('there are no customers')
  const held: number[] = []
  // What a round does not give back is missing in the next one.
  for (let round = 0; round < 3; round++) {
    const { letGo, waiting } = holdWrites(t, app, async () => Buffer.from('<order/>'))
    let refusals = 0
    const asked = customers.slice(0, 3).flatMap((customer) =>
      Array.from({ length: 10 }, async () => {
        const status = await ask(customer, '127.0.0.1')
        if (status === 503) refusals++
        return status
      })
    )
    while (waiting() + refusals < asked.length) await new Promise(setImmediate)
    held.push(waiting())
    t.equal(await ask(last, '127.0.0.1'), 503, 'another customer of the address')
    const elsewhere = ask(last, '192.0.2.1')
    while (waiting() === held.at(-1)) await new Promise(setImmediate)
    letGo()
    t.equal(await elsewhere, 200)
    t.same([...new Set(await Promise.all(asked))].sort(), [200, 503])
  }
  t.equal(new Set(held).size, 1, `${held} orders`)
})
