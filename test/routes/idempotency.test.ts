import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { browserForm, build, orderXml, type Shop, xml } from '../build.ts'
import { hold } from './held-verb.ts'

const post = ({ app }: Shop, payload: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload })

const guestKey = 'known-to-nobody-else'

const count = async ({ store }: Shop) => (await store.orders({ limit: 100 })).items.length

t.test('the same key and bytes replay the stored answer, also after the order has changed', async (t) => {
  const shop = await build(t)
  const first = await post(shop, orderXml(), { 'idempotency-key': guestKey })
  const url = String(first.headers['location'])
  t.equal(first.headers['idempotent-replayed'], undefined)
  await shop.app.inject({ method: 'DELETE', url })
  const again = await post(shop, orderXml(), { 'idempotency-key': `"${guestKey}"` })
  t.same(
    [again.statusCode, again.body, again.headers['location'], again.headers['etag']],
    [201, first.body, url, first.headers['etag']],
    'quoted and bare are one key'
  )
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(await count(shop), 1)
})

t.test('a replayed answer has the status of the first one', async (t) => {
  const shop = await build(t)
  const acme = await shop.key('ACME', 'order')
  const numbered = orderXml({ 'ABC-1': 1 }, '<order-number>N1</order-number>')
  const first = await post(shop, numbered, acme)
  t.equal(first.statusCode, 201)
  for (const replayed of [undefined, 'true', 'true']) {
    const again = await post(shop, numbered, { ...acme, 'idempotency-key': 'k' })
    t.same([again.statusCode, again.headers['location'], again.headers['idempotent-replayed']], [200, first.headers['location'], replayed])
  }
})

t.test('the same key with other bytes is 422, and another caller’s same key is another key', async (t) => {
  const shop = await build(t)
  const acme = await shop.key('ACME', 'order')
  const key = { 'idempotency-key': guestKey }
  t.equal((await post(shop, orderXml(), key)).statusCode, 201)
  const other = await post(shop, orderXml({ 'ABC-1': 2 }), key)
  t.match([other.statusCode, other.body], [422, 'idempotency-key-reused'])
  t.equal((await post(shop, orderXml({ 'ABC-1': 2 }), { ...key, ...acme })).statusCode, 201)
  t.equal(await count(shop), 2)
})

t.test('a refused attempt leaves no trace: the key can be used again', async (t) => {
  const shop = await build(t)
  const key = { 'idempotency-key': guestKey }
  t.equal((await post(shop, orderXml({ 'ABC-1': 101 }), key)).statusCode, 409)
  t.equal((await post(shop, orderXml({ 'ABC-1': 100 }), key)).statusCode, 201)
})

t.test('a key is 1 to 255 printable ASCII characters', async (t) => {
  const shop = await build(t)
  t.equal((await post(shop, orderXml(), { 'idempotency-key': 'k'.repeat(255) })).statusCode, 201)
  for (const key of ['k'.repeat(256), '""', '"abc', 'abc"', '"a"b"']) {
    t.match(await post(shop, orderXml(), { 'idempotency-key': key }), { statusCode: 400 }, key.slice(0, 8))
  }
  t.equal(await count(shop), 1)
})

t.test("a guest's key has 16 characters or more: who knows it and the document is answered with the order", async (t) => {
  const shop = await build(t)
  for (const key of ['one', '"one"', 'k'.repeat(15), `"${'k'.repeat(15)}"`]) {
    const refused = await post(shop, orderXml(), { 'idempotency-key': key })
    t.match([refused.statusCode, refused.body], [400, /malformed-request[\s\S]*16 characters or more/], key)
  }
  const fields = 'item.1.product-id=ABC-1&item.1.quantity=1&_idempotency-key=short'
  const again = await post(shop, fields, browserForm)
  t.equal(again.statusCode, 400)
  t.match(again.body, /name="_idempotency-key" value="[0-9a-f-]{36}"/, 'a form comes back with a key that will do')
  t.equal(await count(shop), 0)
  t.equal((await post(shop, orderXml(), { 'idempotency-key': 'k'.repeat(16) })).statusCode, 201)
  const acme = await shop.key('ACME', 'order')
  t.equal((await post(shop, orderXml(), { ...acme, 'idempotency-key': 'one' })).statusCode, 201, "a customer's keys are its own")
})

t.test('100 concurrent posts of one key make one order: the others are replays, or 409 while it is in flight', async (t) => {
  const shop = await build(t)
  const answers = await Promise.all(Array.from({ length: 100 }, () => post(shop, orderXml(), { 'idempotency-key': guestKey })))
  t.equal(await count(shop), 1)
  t.ok(answers.every(({ statusCode }) => statusCode === 201 || statusCode === 409))
  t.equal(new Set(answers.filter(({ statusCode }) => statusCode === 201).map(({ body }) => body)).size, 1)
  t.equal((await shop.store.stock('ABC-1')).onHand, '99')
})

t.test('a second request with a key whose first request is in progress is 409, and the first is not disturbed', async (t) => {
  const shop = await build(t)
  const headers = { 'idempotency-key': guestKey }
  const { letGo, calls } = hold(shop, 'placeOrder', 1)
  const first = post(shop, orderXml(), headers)
  while (calls() < 1) await turnOfTheLoop()
  const second = await post(shop, orderXml(), headers)
  t.match([second.statusCode, second.body], [409, 'idempotency-in-flight'])
  letGo()
  t.equal((await first).statusCode, 201)
  const again = await post(shop, orderXml(), headers)
  t.same([again.statusCode, again.body, again.headers['idempotent-replayed']], [201, (await first).body, 'true'])
  t.equal(await count(shop), 1)
})

t.test("a customer's order number: the same content is 200 with the order there is, other content 409 with its URI", async (t) => {
  const shop = await build(t)
  const acme = await shop.key('ACME', 'order')
  const globex = await shop.key('Globex', 'order')
  const number = '<order-number>PO-1</order-number>'
  const first = await post(shop, orderXml({ 'ABC-1': 1 }, number), acme)
  t.equal(first.statusCode, 201)
  const url = String(first.headers['location'])
  const again = await post(shop, orderXml({ 'ABC-1': '1.0' }, ` ${number}\n`), acme)
  t.same([again.statusCode, again.headers['location'], again.body], [200, url, first.body], 'equal as parsed documents')
  const json = await shop.app.inject({
    method: 'POST',
    url: '/order',
    headers: { ...acme, 'content-type': 'application/json' },
    payload: { orderNumber: 'PO-1', item: [{ productId: 'ABC-1', quantity: '1' }] }
  })
  t.equal(json.statusCode, 200, 'also as JSON')
  const other = await post(shop, orderXml({ 'ABC-1': 2 }, number), acme)
  t.match([other.statusCode, other.headers['location'], other.body], [409, url, `<order>${url}</order>`])
  t.equal((await post(shop, orderXml({ 'ABC-1': 2 }, number), globex)).statusCode, 201, 'each customer has numbers of its own')
  for (const _ of [1, 2]) t.equal((await post(shop, orderXml({ 'ABC-1': 1 }, number))).statusCode, 201, 'a guest has none')
  await shop.app.inject({ method: 'DELETE', url, headers: acme })
  t.equal((await post(shop, orderXml({ 'ABC-1': 2 }, number), acme)).statusCode, 201, 'a cancelled order frees its number')
})
