import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import type { JsonText } from '../../domain/deferred.ts'
import { build, type Shop, xml } from '../build.ts'
import { countReads } from '../count-reads.ts'
import { listening, message, Wire } from '../http/wire.ts'

const largest = 2 * 1024 * 1024
const json = { 'content-type': 'application/json' } as const
const jsonOrder = '{"item":[{"productId":"ABC-1","quantity":"1"}]}'
const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'

/** Holds the answers of the document process back, so that the room that they take stays reserved. @param write what is answered then */
function holdWrites(t: Test, { documents }: FastifyInstance, write: () => Promise<Buffer>) {
  // All shops of this process have the same documents.
  t.teardown(() => Reflect.deleteProperty(documents, 'write'))
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let waiting = 0
  documents.write = async () => {
    waiting += 1
    await held
    return write()
  }
  return { letGo, waiting: () => waiting }
}

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

t.test('the bodies of one caller take 16 MiB at most while they arrive: one more is 503, unread, and others are answered', async (t) => {
  const { app } = await build(t)
  await listening(app)
  const head = message('POST /order', { ...json, 'content-length': String(largest) })
  const wires = await Promise.all(Array.from({ length: 9 }, () => Wire.open(t, app)))
  const sent = wires.map((wire) => ({ wire, answer: wire.send(head).answer() }))
  const refused = await Promise.race(sent.map(async ({ wire, answer }) => ({ wire, ...(await answer) })))
  t.match(refused, { status: 503, body: /Too many large documents are being processed right now. Nothing was stored/ })
  const send = (remoteAddress: string) => app.inject({ method: 'POST', url: '/order', remoteAddress, headers: json, payload: jsonOrder })
  t.equal((await send('127.0.0.1')).statusCode, 503)
  t.equal((await send('192.0.2.1')).statusCode, 201)
  const waiting = sent.filter(({ wire }) => wire !== refused.wire)
  for (const { wire } of waiting) wire.send(jsonOrder.padEnd(largest))
  const statuses = (await Promise.all(waiting.map(({ answer }) => answer))).map(({ status }) => status)
  t.same(statuses, new Array(8).fill(201))
  t.equal((await send('127.0.0.1')).statusCode, 201, 'each answer gives its room back')
})

/** Sends the heads of orders of 2 MiB at once, which wait to be told to go on. @returns how many are, and how many are refused */
async function announceOrders(t: Test, app: FastifyInstance, senders: readonly Readonly<Record<string, string>>[]) {
  const answers = await Promise.all(
    senders.map(async (sender) => {
      const wire = await Wire.open(t, app)
      const head = { ...json, ...sender, expect: '100-continue', 'content-length': String(largest) }
      return wire.send(message('POST /order', head)).answer()
    })
  )
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
  return { accepted: count(100), refused: count(503) }
}

/** Places an order of so many bytes. @returns the status */
async function place({ app }: Shop, length: number, remoteAddress: string, more: Readonly<Record<string, string>> = {}): Promise<number> {
  const payload = jsonOrder.padEnd(length)
  return (await app.inject({ method: 'POST', url: '/order', remoteAddress, headers: { ...json, ...more }, payload })).statusCode
}

t.test('the bodies of all customers of one address take 24 MiB at most, and leave room for small ones of others', async (t) => {
  const shop = await build(t)
  await listening(shop.app)
  const [a, b, c, d] = [
    await shop.key('A', 'order'),
    await shop.key('B', 'order'),
    await shop.key('C', 'order'),
    await shop.key('D', 'order')
  ]
  const senders = Array.from({ length: 5 }, () => [a, b, c]).flat()
  t.same(await announceOrders(t, shop.app, senders), { accepted: 12, refused: 3 })
  t.equal(await place(shop, largest, '127.0.0.1', d), 503)
  t.equal(await place(shop, largest, '192.0.2.1', d), 201, 'from another address it has room')
  t.equal(await place(shop, 200_000, '127.0.0.1', d), 201)
})

t.test('large bodies that never come, of several addresses, leave room for small ones of others', async (t) => {
  const shop = await build(t, { settings: { TRUST_PROXY: '127.0.0.1' } })
  await listening(shop.app)
  const senders = Array.from({ length: 35 }, (_, index) => ({ 'x-forwarded-for': `192.0.2.${index % 5}` }))
  t.same(await announceOrders(t, shop.app, senders), { accepted: 32, refused: 3 })
  t.equal(await place(shop, largest, '192.0.2.9'), 503)
  t.equal(await place(shop, 200_000, '192.0.2.9'), 201)
})

t.test('large orders that wait to be written have bounded room: more are 503, for who asks for too many and nobody else', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const payload = `<purchase-order>${line.repeat(10_000)}</purchase-order>`
  const placed = await app.inject({ method: 'POST', url: '/order', headers: xml, payload })
  t.equal(placed.statusCode, 201)
  const url = String(placed.headers.location)
  const get = (remoteAddress: string, accept = 'application/xml') => app.inject({ url, remoteAddress, headers: { accept } })

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
  const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
  const cancel = { method: 'POST', url, remoteAddress: '192.0.2.1', headers: form, payload: '_method=DELETE&_if-match="x"' } as const
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

t.test('the orders that all customers of one address read take 24 MiB at most', async (t) => {
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
  if (!last) return
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
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
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
