import { Webhook as Verifier } from 'standardwebhooks'
import t from 'tap'
import { draft, orderXml, xml } from '../build.ts'
import { watchParses } from '../parses.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import { countCalls } from '../routes/held-verb.ts'
import { addWebhook, createProducts, disabled, eventIds, logged, open } from './delivering.ts'
import { type Receiver, startReceiver } from './receiver.ts'

t.test('the events of a shop are delivered in order, signed, as JSON and as XML', async (t) => {
  const shop = await open(t)
  const [json, asXml, own] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)]
  const { secret } = await addWebhook(shop, `${json.url}/hooks`)
  await addWebhook(shop, asXml.url, { more: { mediaType: 'application/xml', type: ['order-placed'] } })
  await addWebhook(shop, own.url, { customer: 'acme', scopes: ['order'], more: { type: ['order-placed'] } })
  const acme = await shop.key('acme', 'order')
  for (const headers of [acme, await shop.key('other', 'order'), acme])
    t.equal(
      (await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload: orderXml() })).statusCode,
      201
    )
  await shop.store.deleteProduct('ABC-1', {})
  const received = await json.count(4)
  t.same(
    received.map(({ body }) => JSON.parse(body).type),
    ['order-placed', 'order-placed', 'order-placed', 'product-deleted']
  )
  for (const { body, headers } of received) {
    t.match(new Verifier(secret).verify(body, headers as Record<string, string>), { data: { id: headers['webhook-id'], at: String } })
    t.equal(headers['content-type'], 'application/json')
  }
  t.match(JSON.parse(received[0]?.body ?? ''), { data: { order: { status: 'accepted', item: [{ quantity: { value: '1' } }] } } })
  t.match((await asXml.count(3))[0], { headers: { 'content-type': 'application/xml' }, body: /^<\?xml[\s\S]*<event [\s\S]*<order / })
  t.same(await faultsByPublishedSchema(shop.app, asXml.received[0]?.body ?? ''), [])
  t.same(eventIds(await own.count(2)), [eventIds(received)[0], eventIds(received)[2]], "a customer's own orders only")
})

t.test('a large order is not parsed in the serving thread', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  await addWebhook(shop, receiver.url, { more: { type: ['order-placed'] } })
  const parsed = watchParses(t)
  const payload = `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>0.001</quantity></item>'.repeat(1_000)}</purchase-order>`
  await shop.store.putProduct('ABC-1', draft({ unit: 'KGM' }), {})
  const placed = await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload })
  t.equal(placed.statusCode, 201, placed.body)
  const [{ body } = { body: '' }] = await receiver.count(1)
  t.equal(JSON.parse(body).data.order.item.length, 1_000)
  t.same(parsed, [])
})

t.test('large orders are read for one webhook at a time', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  const { most } = countCalls(shop, 'events')
  for (const customer of ['A', 'B', 'C', 'D']) await addWebhook(shop, receiver.url, { customer, more: { type: ['order-placed'] } })
  const payload = orderXml({ 'ABC-1': 1 }, `<note>${'x'.repeat(3_900)}</note>`.repeat(20))
  t.equal((await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload })).statusCode, 201)
  await receiver.count(4)
  t.equal(most(), 1)
})

t.test('an event that fails is sent again with the same id, and later ones wait for it', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t, (response, _, count) => {
    if (count === 1) response.writeHead(500).end()
    else response.writeHead(204).end()
  })
  const webhook = await addWebhook(shop, receiver.url)
  await createProducts(shop, 'A', 'B')
  const received = await receiver.count(3)
  const ids = eventIds(received)
  t.equal(ids[0], ids[1])
  t.same(
    received.map(({ body }) => JSON.parse(body).data.resource),
    ['/product/A', '/product/A', '/product/B']
  )
  t.match(await logged(shop, webhook, 3), [
    { event: ids[2], attempt: '1', status: '204' },
    { event: ids[0], attempt: '2', status: '204' },
    { event: ids[0], attempt: '1', status: '500' }
  ])
})

t.test('receivers that hang, close or redirect delay nobody else', async (t) => {
  const shop = await open(t)
  const hanging = await startReceiver(t, () => {})
  const closing = await startReceiver(t, (response) => response.destroy())
  const elsewhere = await startReceiver(t)
  const moved = await startReceiver(t, (response) => response.writeHead(308, { location: elsewhere.url }).end())
  const well = await startReceiver(t)
  for (let i = 0; i < 15; i++) await addWebhook(shop, hanging.url)
  const [shut, redirected] = [await addWebhook(shop, closing.url), await addWebhook(shop, moved.url)]
  await addWebhook(shop, well.url)
  await createProducts(shop, 'A', 'B', 'C')
  await Promise.all([well.count(3), hanging.count(15), closing.count(1), moved.count(1)])
  t.equal(new Set(eventIds(hanging.received)).size, 1, 'each has one event at a time')
  t.match(await logged(shop, shut, 1), [{ attempt: '1', failure: /closed the connection/ }])
  t.match(await logged(shop, redirected, 1), [{ attempt: '1', status: '308' }])
  t.equal(elsewhere.received.length, 0)
})

t.test('410 ends a webhook with an event, and its owner can make it go on where it was', async (t) => {
  const shop = await open(t)
  const watcher = await startReceiver(t)
  await addWebhook(shop, watcher.url, { more: { type: ['webhook-disabled'] } })
  const receiver: Receiver = await startReceiver(t, (response, _, count) => response.writeHead(count === 1 ? 410 : 204).end())
  const { id, url, headers } = await addWebhook(shop, receiver.url)
  await createProducts(shop, 'A', 'B')
  t.match(await disabled(shop, id), { reason: /410/ })
  t.match(JSON.parse((await watcher.count(1))[0]?.body ?? ''), { type: 'webhook-disabled', data: { resource: url } })
  t.equal(receiver.received.length, 1)
  const { body, headers: read } = await shop.app.inject({ url, headers })
  const payload = body.replace('>disabled<', '>active<')
  const put = { ...xml, ...headers, 'if-match': String(read['etag']) }
  t.equal((await shop.app.inject({ method: 'PUT', url, headers: put, payload })).statusCode, 200)
  const received = await receiver.count(3)
  t.same(
    received.slice(0, 3).map(({ body }) => JSON.parse(body).data.resource),
    ['/product/A', '/product/A', '/product/B']
  )
})

t.test('a webhook ends with the key that made it', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  const { id } = await addWebhook(shop, receiver.url)
  for (const key of await shop.store.keys()) await shop.store.revokeKey(key.id)
  await createProducts(shop, 'A')
  t.match(await disabled(shop, id), { reason: /key .* revoked/ })
  t.equal(receiver.received.length, 0)
})

t.test('while two secrets are valid, both sign', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  const { secret, url, headers } = await addWebhook(shop, receiver.url)
  const renewed = await shop.app.inject({ method: 'POST', url: `${url}/secret`, headers: { ...headers, accept: 'application/json' } })
  await createProducts(shop, 'A')
  const [{ body, headers: sent } = { body: '', headers: {} }] = await receiver.count(1)
  for (const one of [secret, renewed.json().secret]) t.doesNotThrow(() => new Verifier(one).verify(body, sent as Record<string, string>))
})

t.test('a service that stops lets a delivery in progress finish, and begins no other', async (t) => {
  const shop = await open(t)
  let release = () => {}
  const receiver = await startReceiver(t, async (response, _, count) => {
    if (count === 1) await new Promise<void>((resolve) => (release = resolve))
    response.writeHead(204).end()
  })
  await addWebhook(shop, receiver.url)
  await createProducts(shop, 'A', 'B')
  await receiver.count(1)
  const closed = shop.app.close()
  release()
  await closed
  t.equal(receiver.received.length, 1)
})
