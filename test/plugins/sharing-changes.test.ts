import t, { type Test } from 'tap'
import { textOf } from '../../domain/deferred.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { listening, message, remaining, Wire } from '../http/wire.ts'
import { cxmlOrder, products, secretOf, ublOrder } from '../routes/buyer-fixtures.ts'

const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
const manyProducts = { 'ABC-1': { onHand: '1000000' as never } }
const minimal = { prefer: 'return=minimal' }

/** The path of a new order of a guest. */
async function placed({ app }: Shop, lines: number): Promise<string> {
  const payload = `<purchase-order>${line.repeat(lines)}</purchase-order>`
  const { headers } = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...minimal }, payload })
  return String(headers.location)
}

const cancel = ({ app }: Shop, url: string, remoteAddress: string) =>
  app.inject({ method: 'DELETE', url, headers: { ...minimal, 'if-match': '*' }, remoteAddress })

const changesOf = (url: string) => [
  { method: 'PUT', url, payload: `<purchase-order>${line}</purchase-order>` } as const,
  { method: 'PUT', url: `${url}/status`, payload: '<order-status><status>accepted</status><note>soon</note></order-status>' } as const,
  { method: 'POST', url: `${url}/shipments`, payload: '<shipment><item line="1"><quantity>1</quantity></item></shipment>' } as const,
  { method: 'DELETE', url } as const
]

t.test('a request that changes a large order is charged for its size, and one that changes a small order costs 1', async (t) => {
  const shop = await build(t, { products: manyProducts, settings: { RATE_LIMIT: '600' } })
  let callers = 0
  for (const lines of [1_500, 1]) {
    for (const [i, { url, ...change }] of changesOf('').entries()) {
      const order = await placed(shop, lines)
      const length = textOf(await shop.store.order(order.slice('/order/'.length)))?.length ?? 0
      t.equal(length > 2 * 65_536, lines > 1)
      callers++
      const seller = i === 0 || i === 3 ? {} : await shop.key(`ERP ${callers}`, 'fulfilment')
      const { statusCode, headers } = await shop.app.inject({
        ...change,
        url: `${order}${url}`,
        headers: { ...xml, ...minimal, ...seller, 'if-match': '*' },
        remoteAddress: `192.0.2.${callers}`
      })
      t.match(String(statusCode), /^20[014]$/)
      t.equal(600 - remaining(headers), Math.max(1, Math.ceil(length / 65_536)), `${change.method} …${url} of ${lines} lines`)
    }
  }
})

/** Changes of orders that end only when they are ended, but for those of the orders that are left out. */
function holdChanges({ store }: Shop, leftOut: readonly string[] = []) {
  const { setOrderStatus, changeOrder } = store
  const started: { readonly url: string; readonly end: () => void }[] = []
  let onStart = () => {}
  async function held(id: string): Promise<void> {
    const url = `/order/${id}`
    if (leftOut.includes(url)) return
    await new Promise<void>((end) => {
      started.push({ url, end })
      onStart()
    })
  }
  store.setOrderStatus = (id, ...rest) => held(id).then(() => setOrderStatus(id, ...rest))
  store.changeOrder = (id, ...rest) => held(id).then(() => changeOrder(id, ...rest))
  /** Waits until so many have been started. */
  const untilStarted = (count: number) =>
    new Promise<void>((resolve) => {
      onStart = () => started.length >= count && resolve()
      onStart()
    })
  return {
    untilStarted,
    get started() {
      return started.map(({ url }) => url)
    },
    async endEach(count: number): Promise<void> {
      for (let i = 0; i < count; i++) {
        await untilStarted(i + 1)
        started[i]?.end()
      }
    }
  }
}

const placedAll = (shop: Shop, count: number, lines: number) => Promise.all(Array.from({ length: count }, () => placed(shop, lines)))

t.test('changes of large orders wait for the turn of their caller, and those of small orders do not', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const [mine, another] = [await placedAll(shop, 4, 400), await placed(shop, 400)]
  const small = await placed(shop, 1)
  const changes = holdChanges(shop, [small])
  const answers = mine.map((url) => cancel(shop, url, '192.0.2.1'))
  await changes.untilStarted(1)
  t.equal((await cancel(shop, small, '192.0.2.1')).statusCode, 204, 'a small one goes at once')
  answers.push(cancel(shop, another, '192.0.2.2'))
  await changes.untilStarted(2)
  // Which of the caller's own is read first is not certain.
  t.ok(mine.includes(changes.started[0] ?? ''))
  t.equal(changes.started[1], another, "another's goes before the rest of one caller's")
  await changes.endEach(5)
  for (const answer of answers) t.equal((await answer).statusCode, 204)
})

t.test('small orders that become large are changed as large ones', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const [mine, another, small] = [await placedAll(shop, 2, 1), await placed(shop, 1), await placed(shop, 1)]
  const changes = holdChanges(shop, [small])
  const payload = `<purchase-order>${line.repeat(1_000)}</purchase-order>`
  const enlarge = (url: string, remoteAddress: string) =>
    shop.app.inject({ method: 'PUT', url, headers: { ...xml, ...minimal, 'if-match': '*' }, payload, remoteAddress })
  const answers = mine.map((url) => enlarge(url, '192.0.2.1'))
  await changes.untilStarted(1)
  answers.push(enlarge(another, '192.0.2.2'))
  await changes.untilStarted(2)
  t.equal((await cancel(shop, small, '192.0.2.1')).statusCode, 204, 'a small one goes at once')
  t.equal(changes.started[1], another, "another's goes before the rest of one caller's")
  await changes.endEach(3)
  for (const answer of answers) t.equal((await answer).statusCode, 204)
})

t.test('changes of small orders wait only in the queue of writes, where senders take turns', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const [mine, another] = [await placedAll(shop, 20, 1), await placed(shop, 1)]
  const changes = holdChanges(shop)
  const answers = mine.map((url) => cancel(shop, url, '192.0.2.1'))
  await changes.untilStarted(20)
  answers.push(cancel(shop, another, '192.0.2.2'))
  await changes.untilStarted(21)
  t.equal(changes.started[20], another)
  await changes.endEach(21)
  for (const answer of answers) t.equal((await answer).statusCode, 204)
})

t.test('the store is told who sends an order, so that senders take turns in it', async (t) => {
  const shop = await build(t, { products: { ...products, 'ABC-1': {} } })
  const { placeOrder } = shop.store
  const senders: unknown[] = []
  shop.store.placeOrder = (placing) => {
    senders.push(placing.sender)
    return placeOrder(placing)
  }
  const acme = await shop.key('ACME', 'order')
  const post = async (payload: string, headers: Readonly<Record<string, string>>, url = '/order') => {
    const answer = await shop.app.inject({ method: 'POST', url, headers, payload, remoteAddress: '192.0.2.1' })
    t.ok(answer.statusCode < 300, answer.body)
  }
  await post(orderXml(), xml)
  await post(orderXml(), { ...xml, ...acme })
  await post(orderXml(), { ...xml, ...acme }, '/order?dry-run=true')
  await post(ublOrder(), { ...xml, ...acme })
  await post(cxmlOrder({ secret: secretOf(acme) }), xml)
  t.same(senders, ['address 192.0.2.1', ...Array(4).fill('customer ACME')])
})

t.test('one caller has few large orders waiting for their changes, and more are 503', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const note = 'n'.repeat(3_900)
  const items = line.replace('</item>', `<note>${note}</note></item>`).repeat(450)
  const { headers } = await shop.app.inject({
    method: 'POST',
    url: '/order',
    headers: { ...xml, ...minimal },
    payload: `<purchase-order>${items}</purchase-order>`
  })
  const url = String(headers.location)
  const { setOrderStatus } = shop.store
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  shop.store.setOrderStatus = (...args) => released.then(() => setOrderStatus(...args))
  const all = Array.from({ length: 30 }, () => cancel(shop, url, '192.0.2.1'))
  const refused = await Promise.race(all)
  t.match(refused, { statusCode: 503, headers: { 'retry-after': /^\d+$/ } })
  const others = cancel(shop, await placed(shop, 400), '192.0.2.2')
  release()
  t.equal((await others).statusCode, 204, "another's is done")
  const codes = (await Promise.all(all)).map(({ statusCode }) => statusCode)
  t.ok(codes.filter((code) => code === 503).length >= 10, `${codes}`)
  t.ok(codes.includes(204))
})

/** Holds the answers to writes back, and counts the orders that are placed. */
function holdAnswers(t: Test, { app, store }: Shop) {
  const { read, write } = app.documents
  const { placeOrder } = store
  // All shops of this process have the same documents.
  t.teardown(() => ['read', 'write'].map((name) => Reflect.deleteProperty(app.documents, name)))
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  const counts = { read: 0, placed: 0, held: 0 }
  app.documents.read = (...args) => read.apply(app.documents, args).finally(() => counts.read++)
  store.placeOrder = (...args) => {
    counts.placed++
    return placeOrder(...args)
  }
  app.documents.write = async (...args) => {
    counts.held++
    await held
    return write.apply(app.documents, args)
  }
  return { counts, letGo }
}

const largeOrder = `<purchase-order>${line.repeat(1_500)}</purchase-order>`

t.test('a caller has one large order written at a time, until its answer is; others do not wait for it', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { counts, letGo } = holdAnswers(t, shop)
  const place = (remoteAddress: string) =>
    shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: largeOrder, remoteAddress })
  const answers = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map(place)
  while (counts.held < 2 || counts.read < 4) await new Promise(setImmediate)
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  t.same(counts, { read: 4, placed: 2, held: 2 })
  letGo()
  for (const answer of answers) t.match(await answer, { statusCode: 201, body: /<line-total>/ })
})

t.test('four large orders are written at a time for all callers, and more wait', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { counts, letGo } = holdAnswers(t, shop)
  const answers = Array.from({ length: 6 }, (_, i) =>
    shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: largeOrder, remoteAddress: `192.0.2.${1 + i}` })
  )
  while (counts.held < 4 || counts.read < 6) await new Promise(setImmediate)
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  t.same(counts, { read: 6, placed: 4, held: 4 })
  letGo()
  for (const answer of answers) t.equal((await answer).statusCode, 201)
})

t.test('the turn of a caller ends when its client leaves', async (t) => {
  const shop = await build(t, { products: manyProducts })
  const { counts, letGo } = holdAnswers(t, shop)
  await listening(shop.app)
  const bytes = message('POST /order', xml, largeOrder)
  const first = (await Wire.open(t, shop.app)).send(bytes)
  while (counts.held < 1) await new Promise(setImmediate)
  const second = (await Wire.open(t, shop.app)).send(bytes).answer()
  first.abort()
  while (counts.placed < 2) await new Promise(setImmediate)
  letGo()
  t.equal((await second).status, 201)
})
