import t from 'tap'
import { textOf } from '../../domain/deferred.ts'
import type { Page } from '../../domain/page.ts'
import type { Product } from '../../domain/product.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { listening, message, remaining, Wire } from '../http/wire.ts'
import { cxmlOrder, products, secretOf, ublOrder } from '../routes/buyer-fixtures.ts'

/** Searches that end only when they are ended. */
function hold({ store }: Shop) {
  const held: (() => void)[] = []
  const products = store.products
  let most = 0
  store.products = async (query): Promise<Page<Product>> => {
    if (query.q !== 'slow') return products(query)
    await new Promise<void>((resolve) => {
      most = Math.max(most, held.push(resolve))
    })
    return products(query)
  }
  return {
    get most() {
      return most
    },
    /** Waits until no more than so many of the answers are still to come: the others were refused. */
    async untilPending(answers: readonly Promise<unknown>[], count: number): Promise<void> {
      let pending = answers.length
      for (const answer of answers) void answer.finally(() => pending--)
      while (pending > count) await new Promise((resolve) => setImmediate(resolve))
    },
    /** Ends searches until a promise is settled. */
    async endUntil<T>(settled: Promise<T>): Promise<T> {
      const ending = setInterval(() => held.shift()?.(), 1)
      return settled.finally(() => clearInterval(ending))
    }
  }
}

const search = ({ app }: Shop, remoteAddress: string, q = 'slow') => app.inject({ url: `/products?q=${q}`, remoteAddress })

t.test('one caller has few searches under way, and more of them are 429 with Retry-After', async (t) => {
  const shop = await build(t)
  const held = hold(shop)
  const all = Array.from({ length: 30 }, () => search(shop, '192.0.2.1'))
  await held.untilPending(all, 10)
  const answers = await held.endUntil(Promise.all(all))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 10)
  const refused = answers.filter(({ statusCode }) => statusCode === 429)
  t.equal(refused.length, 20)
  t.match(refused[0], {
    headers: { 'retry-after': /^\d+$/, 'content-type': 'application/problem+xml' },
    body: /searches of yours are in progress/
  })
  t.equal(held.most, 2, 'and of those few are looked for at a time')
  t.equal((await held.endUntil(search(shop, '192.0.2.1'))).statusCode, 200, 'then it may go on')
})

t.test('searches of all callers are bounded too, and over that it is 503 for a while', async (t) => {
  const shop = await build(t)
  const held = hold(shop)
  const all = Array.from({ length: 100 }, (_, i) => search(shop, `192.0.2.${i}`))
  await held.untilPending(all, 68)
  const statuses = (await held.endUntil(Promise.all(all))).map(({ statusCode }) => statusCode)
  t.equal(statuses.filter((status) => status === 200).length, 68)
  t.equal(statuses.filter((status) => status === 503).length, 32)
  t.equal(held.most, 4)
})

t.test('a client that searches without pause keeps no other from searching, or from other pages', async (t) => {
  const shop = await build(t)
  const held = hold(shop)
  const slow = Promise.all(Array.from({ length: 10 }, () => search(shop, '192.0.2.1')))
  t.equal((await search(shop, '192.0.2.2', 'bolt')).statusCode, 200)
  t.equal((await shop.app.inject({ url: '/products', remoteAddress: '192.0.2.1' })).statusCode, 200)
  t.same(
    (await held.endUntil(slow)).map(({ statusCode }) => statusCode),
    Array(10).fill(200)
  )
})

t.test('the customers behind one address search each for itself', async (t) => {
  const shop = await build(t)
  const held = hold(shop)
  const keys = [await shop.key('ACME', 'order'), await shop.key('Globex', 'order')]
  const all = keys.flatMap((headers) => Array.from({ length: 10 }, () => shop.app.inject({ url: '/products?q=slow', headers })))
  const statuses = (await held.endUntil(Promise.all(all))).map(({ statusCode }) => statusCode)
  t.same(statuses, Array(20).fill(200))
})

/** Makes the catalogue endless for as long as `isWanted` is true. */
function endless({ store }: Shop) {
  const real = store.allProducts
  const state = { isWanted: true, started: 0 }
  store.allProducts = () => {
    state.started++
    return state.isWanted ? forEver(real) : real()
  }
  return state
}

async function* forEver(read: Shop['store']['allProducts']) {
  for (;;) yield* read()
}

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

const catalogueOf = ({ app }: Shop, remoteAddress = '127.0.0.1') => app.inject({ url: '/catalogue', remoteAddress })

t.test('one caller reads few whole catalogues at a time, and a reader that leaves makes room', async (t) => {
  const shop = await build(t)
  const catalogues = endless(shop)
  await listening(shop.app)
  const readers = await Promise.all(
    Array.from({ length: 4 }, async () => (await Wire.open(t, shop.app)).pause().send(message('GET /catalogue')))
  )
  await until(() => catalogues.started === 4)
  catalogues.isWanted = false
  t.match(await catalogueOf(shop), { statusCode: 429, headers: { 'retry-after': /^\d+$/ } })
  t.equal((await catalogueOf(shop, '192.0.2.9')).statusCode, 200, 'others read it')
  t.equal((await shop.app.inject({ url: '/catalogue', method: 'HEAD' })).statusCode, 200, 'HEAD reads nothing')
  for (const reader of readers) reader.abort()
  await until(async () => (await catalogueOf(shop)).statusCode === 200)
})

t.test('requests in a row whose connection is reset leave no place taken', async (t) => {
  const shop = await build(t)
  await listening(shop.app)
  const catalogues = endless(shop)
  const wire = (await Wire.open(t, shop.app)).pause().send(message('GET /catalogue').repeat(8))
  await until(() => catalogues.started > 0)
  catalogues.isWanted = false
  wire.abort()
  await until(async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => catalogueOf(shop)))
    return answers.every(({ statusCode }) => statusCode === 200)
  })
  t.pass('all places are free again')
})

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
  t.same(changes.started, [mine[0], another], "another's goes before the rest of one caller's")
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
