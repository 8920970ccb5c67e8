import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { mostInline } from '../../domain/deferred.ts'
import { senderName } from '../../http/sender-name.ts'
import { orderXml, type Shop, xml } from '../build.ts'
import { listening, message } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'
import { cxmlLine, cxmlOrder, secretOf } from './buyer-fixtures.ts'
import { json } from './feed.ts'
import { countCalls, hold } from './held-verb.ts'
import { get, type Headers, html, setUp } from './shipped-order.ts'

/** The most that one sender reads at a time, and all of them. */
const most = { ofOne: 4, ofAll: 8 } as const

const turn = () => new Promise((resolve) => setImmediate(resolve))

const guestsReads = [
  ['product', '/product/ABC-1'],
  ['stock', '/product/ABC-1/stock'],
  ['revision', '/products'],
  ['products', '/products'],
  ['mainCategories', '/products', html],
  ['order', 'ORDER'],
  ['shipments', 'ORDER', html],
  ['order', 'ORDER/status'],
  ['orderHead', 'ORDER/shipments'],
  ['shipments', 'ORDER/shipments'],
  ['shipment', 'ORDER/shipment/1'],
  ['documentOf', 'ORDER/document']
] as const
const customersReads = [
  ['findKey', '/orders'],
  ['ordersRevision', '/orders'],
  ['orders', '/orders'],
  ['wholeOrders', '/orders?with=lines', json],
  ['eventHeads', '/events'],
  ['events', '/events'],
  ['webhooks', '/webhooks'],
  ['webhook', 'WEBHOOK'],
  ['deliveries', 'WEBHOOK/deliveries']
] as const

t.test('one sender’s reads leave room for others’, whatever is read', async (t) => {
  const { shop, order, key, webhook } = await setUp(t)
  const other = await shop.key('Other', 'order', 'fulfilment')
  const reads = [
    ...guestsReads.map(([verb, path, headers = {}]) => ({ verb, path, crowd: headers, newcomer: headers })),
    ...customersReads.map(([verb, path, headers = {}]) => ({
      verb,
      path,
      crowd: { ...headers, ...key },
      newcomer: { ...headers, ...other }
    }))
  ]
  for (const { verb, path, crowd, newcomer } of reads) {
    const url = path.replace('ORDER', order).replace('WEBHOOK', webhook)
    const ask = () => get(shop, url, '192.0.2.2', newcomer)
    const { calls: callsOfOne } = hold(shop, verb, 0)
    const { statusCode } = await ask()
    const { letGo, calls } = hold(shop, verb, most.ofOne)
    const asked = Array.from({ length: most.ofOne + 2 }, () => get(shop, url, '192.0.2.1', crowd))
    while (calls() < most.ofOne) await turn()
    const ofOne = callsOfOne()
    t.equal((await ask()).statusCode, statusCode, `${verb} for ${path}`)
    t.equal(calls(), most.ofOne + ofOne, `the crowd’s other calls of ${verb} for ${path} wait`)
    letGo()
    await Promise.all(asked)
  }
})

t.test('a customer does not wait for guests of its address', async (t) => {
  const { shop, key } = await setUp(t, { RATE_LIMIT: '100' })
  const address = '192.0.2.1'
  t.equal((await get(shop, '/orders', address, key)).statusCode, 200, 'the key is known to be valid')
  const { letGo, calls } = hold(shop, 'product', most.ofOne)
  const asked = Array.from({ length: 20 }, () => get(shop, '/product/ABC-1', address))
  while (calls() < most.ofOne) await turn()
  t.equal((await get(shop, '/orders', address, key)).statusCode, 200)
  t.equal(calls(), most.ofOne)
  letGo()
  await Promise.all(asked)
})

t.test('until the caller is known, the sender is the one that the rate limit counts; then it is a customer or an address', (t) => {
  const [network, charged] = ['192.0.2.1', { caller: 'key abc' }]
  const key = { kind: 'key', keyId: 'k', customer: 'Acme', scopes: [] } as const
  t.equal(senderName({ identity: undefined, charged, network }), 'key abc')
  t.equal(senderName({ identity: undefined, charged: undefined, network }), 'address 192.0.2.1')
  t.equal(senderName({ identity: { kind: 'guest' }, charged, network }), 'address 192.0.2.1')
  t.equal(senderName({ identity: key, charged, network }), 'customer Acme')
  t.end()
})

t.test('a read whose turn comes too late is refused for a while', async (t) => {
  const { shop } = await setUp(t)
  const clock = stopClock(t)
  const { letGo, calls } = hold(shop, 'product', most.ofOne)
  const asked = Array.from({ length: most.ofOne + 2 }, () => get(shop, '/product/ABC-1', '192.0.2.1'))
  while (calls() < most.ofOne) await turn()
  while (!(await shop.app.metrics.read()).includes(`http_requests_in_flight ${asked.length}\n`)) await turn()
  clock.pass(31_000)
  letGo()
  const answers = await Promise.all(asked)
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 200, 200, 200, 503, 503], 'what the database has begun is answered')
  t.match(
    answers.find(({ statusCode }) => statusCode === 503),
    { headers: { 'retry-after': '5' }, body: /The shop has too much to do right now. Try again/ }
  )
  t.equal((await get(shop, '/product/ABC-1', '192.0.2.1')).statusCode, 200)
})

t.test('nothing is read for a client that has left before its turn', async (t) => {
  const { shop } = await setUp(t)
  const { app } = shop
  await listening(app)
  const { port } = app.server.address() as AddressInfo
  const { letGo, calls } = hold(shop, 'product', most.ofOne)
  const clients = Array.from({ length: most.ofOne + 2 }, () => {
    const client = connect({ port, host: '127.0.0.1' })
    client.write(message('GET /product/ABC-1'))
    return client
  })
  while (calls() < most.ofOne) await turn()
  while (!(await app.metrics.read()).includes(`http_requests_in_flight ${clients.length}\n`)) await turn()
  for (const client of clients) client.destroy()
  while (app.connections.open.size > 0) await turn()
  letGo()
  while ((await app.metrics.read()).includes('http_requests_in_flight 0\n') === false) await turn()
  t.equal((await get(shop, '/product/ABC-1', '127.0.0.1')).statusCode, 200)
  t.equal(calls(), most.ofOne + 1)
})

t.test('a request goes on with its reads before others begin, so few hold what they have read', async (t) => {
  const { shop, order } = await setUp(t)
  let [begun, mostBegun] = [0, 0]
  const { orderHead, shipments } = shop.store
  shop.store.orderHead = async (id) => {
    await turn()
    mostBegun = Math.max(mostBegun, ++begun)
    return orderHead(id)
  }
  shop.store.shipments = async (...args) => {
    await turn()
    begun--
    return shipments(...args)
  }
  const senders = 20 * most.ofAll
  const answers = await Promise.all(Array.from({ length: senders }, (_, i) => get(shop, `${order}/shipments`, `192.0.2.${i}`)))
  t.same(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
  t.ok(mostBegun <= 2 * most.ofAll, `${mostBegun} at once`)
})

t.test('large orders are read one at a time, whoever reads them; small ones do not wait for that', async (t) => {
  const { shop, key, order: small } = await setUp(t)
  const other = await shop.key('Other', 'fulfilment')
  const payload = orderXml({ 'ABC-1': 1 }, `<note>${'x'.repeat(3_900)}</note>`.repeat(20))
  const { headers } = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...key }, payload })
  const order = String(headers.location)
  for (const [verb, path, accept] of [
    ['order', order, xml],
    ['order', `${order}/status`, html],
    ['wholeOrders', '/orders?with=lines', json],
    ['events', '/events', json]
  ] as const) {
    // A read with a limit that is too low for the order reads nothing.
    const { most } = countCalls(shop, verb, [mostInline, small.split('/').at(-1)])
    const asked = [key, other, key, other].map((who, i) => get(shop, path, `192.0.2.${1 + i}`, { ...accept, ...who }))
    t.equal((await get(shop, small, '192.0.2.9', other)).statusCode, 200)
    const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode)
    t.same(statuses, [200, 200, 200, 200], path)
    t.equal(most(), 1, `${verb} for ${path}`)
  }
})

const makeWebhook = ({ app }: Shop, headers: Headers) =>
  app.inject({
    method: 'POST',
    url: '/webhooks',
    headers: { ...xml, ...headers },
    payload: '<webhook><url>http://127.0.0.1:9/</url></webhook>'
  })

/** Waits until so many new webhooks have asked for their turn to be written. */
function watchNewWebhooks({ app: { webhooks } }: Shop) {
  const { checkUrl } = webhooks
  let asked = 0
  webhooks.checkUrl = async (url, customer) => {
    await checkUrl(url, customer)
    // The route asks for the turn when this promise has resolved.
    setImmediate(() => asked++)
  }
  return async (count: number) => {
    while (asked < count) await turn()
  }
}

t.test('one customer writes one webhook at a time, and others need not wait for its others', async (t) => {
  const { shop, key } = await setUp(t)
  const other = await shop.key('Other', 'order')
  const { letGo, calls } = hold(shop, 'createWebhook', 1)
  const asked = Array.from({ length: 3 }, () => makeWebhook(shop, key))
  while (calls() < 1) await turn()
  t.equal((await makeWebhook(shop, other)).statusCode, 201)
  t.equal(calls(), 2)
  letGo()
  t.same(
    (await Promise.all(asked)).map(({ statusCode }) => statusCode),
    [201, 201, 201]
  )
})

t.test('all customers together write two webhooks at a time', async (t) => {
  const { shop } = await setUp(t)
  const keys = await Promise.all(Array.from({ length: 5 }, (_, i) => shop.key(`Customer ${i}`, 'order')))
  const untilAsked = watchNewWebhooks(shop)
  const { letGo, calls } = hold(shop, 'createWebhook', keys.length)
  const asked = keys.map((key) => makeWebhook(shop, key))
  await untilAsked(keys.length)
  t.equal(calls(), 2)
  letGo()
  for (const answer of asked) t.equal((await answer).statusCode, 201)
  t.equal(calls(), keys.length)
})

t.test('a write whose turn comes too late is refused for a while, and nothing of it is stored', async (t) => {
  const { shop, key } = await setUp(t)
  const clock = stopClock(t)
  const untilAsked = watchNewWebhooks(shop)
  const { letGo, calls } = hold(shop, 'createWebhook', 1)
  const asked = Array.from({ length: 3 }, () => makeWebhook(shop, key))
  await untilAsked(asked.length)
  clock.pass(31_000)
  letGo()
  const answers = await Promise.all(asked)
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 503, 503], 'what the database has begun is done')
  t.match(
    answers.find(({ statusCode }) => statusCode === 503),
    { headers: { 'retry-after': '5' }, body: /The shop has too much to do right now. Nothing was stored./ }
  )
  t.equal(calls(), 1)
  t.equal((await shop.store.webhooks('Acme')).length, 2)
  t.equal((await makeWebhook(shop, key)).statusCode, 201)
})

t.test('a key that is revoked while its large order waits for its turn places nothing, wherever the key was shown', async (t) => {
  const { shop } = await setUp(t)
  const notes = `<note>${'x'.repeat(3_900)}</note>`.repeat(20)
  for (const shown of ['header', 'document']) {
    const key = await shop.key(shown, 'order')
    const lines = [cxmlLine({ product: 'ABC-1', price: '' })]
    const long = Array.from({ length: 20 }, (_, i) => `<Extrinsic name="e${i}">${'x'.repeat(3_900)}</Extrinsic>`).join('')
    const post = (number: string) =>
      shop.app.inject({
        method: 'POST',
        url: '/order',
        headers: { ...xml, ...(shown === 'header' ? key : {}) },
        payload:
          shown === 'header'
            ? orderXml({ 'ABC-1': 1 }, `<order-number>${number}</order-number>${notes}`)
            : cxmlOrder({ number, payloadId: number, secret: secretOf(key), header: long, lines })
      })
    const { letGo, calls } = hold(shop, 'placeOrder', 1)
    const first = post('PO-1')
    while (calls() < 1) await turn()
    const { calls: keysFound } = hold(shop, 'findKey', 0)
    const second = post('PO-2')
    while (keysFound() < 1) await turn()
    const { id = '' } = (await shop.store.keys()).find(({ customer }) => customer === shown) ?? {}
    await shop.store.revokeKey(id)
    letGo()
    t.match((await first).body, shown === 'header' ? '<order' : 'code="200"', 'it was being placed before')
    t.match((await second).body, shown === 'header' ? /unauthenticated/ : /code="401"/, shown)
    t.equal((await shop.store.orders({ limit: 5, customer: shown })).items.length, 1, shown)
  }
})
