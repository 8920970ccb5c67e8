import { type AddressInfo, connect } from 'node:net'
import type { LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { browserForm, build, xml } from '../build.ts'
import { countReads } from '../count-reads.ts'
import { listening, message } from '../http/wire.ts'
import { holdWrites } from './hold-writes.ts'

const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'

/** Sends 60 requests at once, of which only some have room. @returns how many of them are answered with 200 */
async function answeredOf60(t: Test, ask: () => Promise<LightMyRequestResponse>, letGo: () => void): Promise<number> {
  const asked = Array.from({ length: 60 }, ask)
  t.match(await Promise.race(asked), { statusCode: 503, body: /Too many large orders are being read or changed right now/ })
  letGo()
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode)
  const answered = statuses.filter((status) => status === 200).length
  t.ok(answered > 0 && answered < 60, `${answered} answers`)
  return answered
}

t.test('large orders that wait to be written have bounded room: more are 503, for who asks for too many and nobody else', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const placed = await app.inject({ method: 'POST', url: '/order', headers: xml, payload })
  t.equal(placed.statusCode, 201)
  const url = String(placed.headers.location)
  const get = (remoteAddress: string) => app.inject({ url, remoteAddress, headers: { accept: 'application/xml' } })

  // Which requests have room is tested here, not what is written.
  const { letGo, waiting } = holdWrites(t, app, async () => Buffer.from('<order/>'))
  let refusals = 0
  const ask = async () => {
    const answer = await get('192.0.2.1')
    if (answer.statusCode === 503) refusals += 1
    return answer
  }
  const asked = Array.from({ length: 60 }, ask)
  // Those that are refused are answered while the others are held.
  const refused = await Promise.race(asked)
  t.match(refused, { statusCode: 503, headers: { 'retry-after': '5' }, body: /Too many large orders are being read or changed right now/ })
  const cancel = { method: 'POST', url, remoteAddress: '192.0.2.1', headers: browserForm, payload: '_method=DELETE&_if-match="x"' } as const
  t.match(await app.inject(cancel), { statusCode: 503, body: /<h1/ }, 'a page that has no room for the order is there without it')
  // One caller's orders are read a few at a time, so all of them must have been read before room is free again.
  while (waiting() + refusals < asked.length) await new Promise(setImmediate)
  const other = get('192.0.2.2')
  const before = waiting()
  while (waiting() === before) await new Promise(setImmediate)
  letGo()
  t.equal((await other).statusCode, 200)
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode)
  t.same([...new Set(statuses)].sort(), [200, 503])
  t.ok(statuses.filter((status) => status === 200).length < 32)
  t.equal((await get('192.0.2.1')).statusCode, 200, 'then there is room again')
})

t.test('a large order is not read without room for it', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const placed = await app.inject({ method: 'POST', url: '/order', headers: xml, payload })
  const url = String(placed.headers.location)
  const { letGo } = holdWrites(t, app, async () => Buffer.from('<order/>'))
  const reads = countReads(store, 'order')
  const answered = await answeredOf60(t, async () => app.inject({ url, headers: { accept: 'application/xml' } }), letGo)
  t.equal(reads(), answered)
})

t.test('a large order for whose answer there is no room is placed and changed without one', async (t) => {
  const onHand = '1000000' as never
  const { app } = await build(t, { products: { 'ABC-1': { onHand }, LONG: { onHand, name: 'n'.repeat(256) } } })
  const short = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  // It is larger than the room that is left when one order more of the other product has none.
  const long = short.replaceAll('ABC-1', 'LONG')
  const send = (method: 'POST' | 'PUT', url: string, payload: string) =>
    app.inject({ method, url, headers: { ...xml, 'if-match': '*' }, payload })
  const first = String((await send('POST', '/order', short)).headers.location)
  const { letGo } = holdWrites(t, app, async () => Buffer.from('<order/>'))
  const reads = Array.from({ length: 60 }, () => app.inject({ url: first, headers: { accept: 'application/xml' } }))
  t.match(await Promise.race(reads), { statusCode: 503 })
  const placed = await send('POST', '/order', long)
  t.match([placed.statusCode, placed.body, placed.headers['content-type']], [201, '', undefined])
  t.match(placed.headers, { location: /^\/order\/[0-9a-f-]{36}$/, etag: /^"/ })
  letGo()
  await Promise.all(reads)
  const { statusCode, body } = await app.inject({ url: String(placed.headers.location), headers: { accept: 'application/xml' } })
  t.match([statusCode, body], [200, '<order/>'])
  app.makeRoomToSend = () => false
  const again = await send('POST', '/order', short)
  t.match([again.statusCode, again.body], [201, ''], 'nor where its client reads no answers')
  const changed = await send('PUT', String(again.headers.location), short.replace('<quantity>1<', '<quantity>2<'))
  t.match([changed.statusCode, changed.body, changed.headers.etag], [204, '', undefined])
})

t.test('a large order that is cancelled already takes room until its answer is written, also when its client leaves', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: 'off' }, products: { 'ABC-1': { onHand: '1000000' as never } } })
  // Only a caller that has no room may have more than its share.
  app.get('/room', (request) => request.withRoomFor(16 * 1024 * 1024, async () => 'free'))
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const { headers } = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, prefer: 'return=minimal' }, payload })
  const url = String(headers.location)
  const cancel = () => app.inject({ method: 'DELETE', url, remoteAddress: '192.0.2.1', headers: { accept: 'application/xml' } })
  t.equal((await cancel()).statusCode, 200)
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  const { letGo, waiting } = holdWrites(t, app, async () => Buffer.from('<order/>'))
  const leaving = connect({ port, host: '127.0.0.1' })
  leaving.write(message(`DELETE ${url}`))
  while (waiting() < 1) await new Promise(setImmediate)
  leaving.destroy()
  let refusals = 0
  const asked = Array.from({ length: 60 }, async () => {
    const { statusCode } = await cancel()
    if (statusCode === 503) refusals++
    return statusCode
  })
  while (waiting() - 1 + refusals < asked.length) await new Promise(setImmediate)
  t.ok(refusals > 30, `${refusals} refused`)
  letGo()
  t.same([...new Set(await Promise.all(asked))].sort(), [200, 503])
  t.equal((await app.inject({ url: '/room', remoteAddress: '192.0.2.1' })).statusCode, 200, 'then none of the room is taken')
})

t.test('a large order takes room while the form that changes it waits for its turn', async (t) => {
  const { app } = await build(t, { settings: { RATE_LIMIT: 'off' }, products: { 'ABC-1': { onHand: '1000000' as never } } })
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const { headers } = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, prefer: 'return=minimal' }, payload })
  const { schedule } = app
  let letGo = () => {}
  const turn = new Promise<void>((resolve) => (letGo = resolve))
  app.schedule = (network, start) => void turn.then(() => schedule(network, start))
  let refusals = 0
  const asked = Array.from({ length: 60 }, async () => {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: String(headers.location),
      headers: browserForm,
      payload: '_method=PUT&_more=1&item.1.product-id=ABC-1'
    })
    if (statusCode === 503) refusals++
    return statusCode
  })
  while (refusals < 30) await new Promise(setImmediate)
  letGo()
  t.same([...new Set(await Promise.all(asked))].sort(), [200, 503])
})

t.test('the large orders of a page of events are not read without room for them', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const { app, store } = shop
  const seller = await shop.key('ERP', 'fulfilment')
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  t.equal((await app.inject({ method: 'POST', url: '/order', headers: xml, payload })).statusCode, 201)
  const url = '/events?type=order-placed'
  const { letGo, waiting } = holdWrites(t, app, async () => Buffer.from('<events/>'))
  const reads = countReads(store, 'events')
  const answered = await answeredOf60(t, async () => app.inject({ url, headers: seller }), letGo)
  t.same([reads(), waiting()], [answered, answered], 'each page that was read had room')
})

const readsOfLarge = [
  ['a shipment', 'shipment', '/shipment/1'],
  ['a page of whole orders', 'wholeOrders', undefined]
] as const
for (const [what, verb, path] of readsOfLarge) {
  t.test(`${what} is not read without room for it`, async (t) => {
    const shop = await build(t, { settings: { RATE_LIMIT: 'off' }, products: { 'ABC-1': { onHand: '1000000' as never } } })
    const { app, store } = shop
    const seller = await shop.key('ERP', 'fulfilment')
    const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
    const { headers } = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, prefer: 'return=minimal' }, payload })
    const order = String(headers.location)
    const shipped = await app.inject({ method: 'POST', url: `${order}/shipments`, headers: { ...xml, ...seller }, payload: '<shipment/>' })
    t.equal(shipped.statusCode, 201)
    const { letGo } = holdWrites(t, app, async () => Buffer.from('<written/>'))
    const reads = countReads(store, verb)
    const url = path === undefined ? '/orders?with=lines' : order + path
    const ask = async () => app.inject({ url, headers: seller })
    const answered = await answeredOf60(t, ask, letGo)
    t.equal(reads(), answered)
    t.equal((await ask()).statusCode, 200, 'then there is room again')
  })
}

t.test('of requests that were accepted together, none reads a large order after the others have used up the rate', async (t) => {
  const { app, store } = await build(t, { settings: { RATE_LIMIT: '10' }, products: { 'ABC-1': { onHand: '1000000' as never } } })
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const { headers } = await app.inject({ method: 'POST', url: '/order', headers: xml, payload })
  const asked = 4
  const { orderHead } = { ...store }
  const reads = countReads(store, 'order')
  let letGo = () => {}
  const all = new Promise<void>((resolve) => (letGo = resolve))
  let heads = 0
  Object.assign(store, {
    orderHead: async (id: string) => {
      if (++heads === asked) letGo()
      await all
      return orderHead(id)
    }
  })
  const answers = await Promise.all(
    Array.from({ length: asked }, () =>
      app.inject({ url: String(headers.location), remoteAddress: '192.0.2.1', headers: { accept: 'application/json' } })
    )
  )
  const statuses = answers.map(({ statusCode }) => statusCode).sort()
  t.same([reads(), statuses], [1, [200, 429, 429, 429]])
  const refused = answers.find(({ statusCode }) => statusCode === 429)
  t.match(refused, { headers: { 'retry-after': /^[1-9][0-9]?$/ }, body: /You have sent more than 10 requests in a minute/ })
})

t.test('the sender of a request is the customer of its key, or else its address', async (t) => {
  const { app, key } = await build(t)
  const senders: unknown[] = []
  app.addHook('preHandler', async (request) => {
    senders.push(request.sender().name)
  })
  await app.inject({ url: '/product/ABC-1', remoteAddress: '192.0.2.1' })
  await app.inject({ url: '/product/ABC-1', remoteAddress: '192.0.2.1', headers: await key('ACME', 'order') })
  t.same(senders, ['address 192.0.2.1', 'customer ACME'])
})

t.test('a page of events with an order that is larger than the share of a caller is sent to one that has no other room', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { name: '螺'.repeat(256), onHand: '1000000' as never } } })
  const { app } = shop
  const seller = await shop.key('ERP', 'fulfilment')
  const noted = line.replace('</item>', `<note>${'螺'.repeat(30)}</note></item>`)
  const payload = `<purchase-order>${noted.repeat(10_000)}</purchase-order>`
  t.equal((await app.inject({ method: 'POST', url: '/order', headers: xml, payload })).statusCode, 201)
  for (const url of ['/events?type=order-placed', '/orders?with=lines']) {
    t.equal((await app.inject({ url, headers: seller })).statusCode, 200, url)
  }
})
