import t, { type Test } from 'tap'
import { build } from '../build.ts'
import {
  onHand,
  orderCount,
  products,
  read,
  send,
  ublAllowance,
  ublAnswer,
  ublCancellation,
  ublChange,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'

const paint = { product: 'PAINT-1', unit: 'KGM', price: '4' } as const

/** A shop with an order of three lines: 10, 20 and 30. */
async function ordered(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const shop = await build(t, { products, settings })
  const key = await shop.key('acme', 'order')
  const lines = [ublLine({ id: '10' }), ublLine({ id: '20', ...paint }), ublLine({ id: '30', product: 'SCREW-3', price: '' })]
  const placed = await send(shop, ublOrder({ header: '<cbc:Note>first</cbc:Note>', lines }), key)
  t.equal(placed.statusCode, 201, placed.body)
  const url = String(placed.headers['location'])
  return {
    shop,
    key,
    url,
    id: url.slice('/order/'.length),
    post: (payload: string) => send(shop, payload, key),
    items: async () => {
      const { item } = await read(shop, url, key)
      return item.map(
        ({ lineId, productId, quantity }: Record<string, { value: string }>) => `${lineId} ${productId?.value} ${quantity?.value}`
      )
    }
  }
}

t.test('an OrderChange adds, changes and deletes lines, and leaves the others', async (t) => {
  const { shop, key, url, post, items } = await ordered(t)
  const lines = [
    ublLine({ id: '10', status: '3', quantity: '5' }),
    ublLine({ id: '20', status: '2', product: '', quantity: '', price: '' }),
    ublLine({ id: '40', status: '1', product: 'SCREW-3', quantity: '7', price: '' })
  ]
  const changed = await post(ublChange({ sequence: '1', lines }))
  t.equal(changed.statusCode, 200, changed.body)
  t.equal(changed.headers['content-location'], url)
  t.same(ublAnswer(changed), { code: 'AP', notes: [] })
  t.same(await items(), ['10 BOLT-8 5', '30 SCREW-3 2', '40 SCREW-3 7'])
  t.match(await read(shop, url, key), { note: ['first'], orderNumber: 'PO-7' })
  t.same([await onHand(shop), await onHand(shop, 'PAINT-1')], ['95', '100'])
  const again = await post(ublChange({ sequence: '1', lines }))
  t.same([again.statusCode, ublAnswer(again).code], [200, 'AP'], 'sent again it changes nothing')
  t.same(await items(), ['10 BOLT-8 5', '30 SCREW-3 2', '40 SCREW-3 7'])
  t.equal(await orderCount(shop), 1)
})

t.test('an untouched line needs nothing but its number, a changed one nothing but what changes', async (t) => {
  const { post, items } = await ordered(t)
  const bare = { product: '', quantity: '', price: '' } as const
  const changed = await post(
    ublChange({
      lines: [ublLine({ id: '10', status: '4', ...bare }), ublLine({ id: '20', status: '3', ...bare, quantity: '9', unit: 'KGM' })]
    })
  )
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await items(), ['10 BOLT-8 2', '20 PAINT-1 9', '30 SCREW-3 2'])
})

t.test('each fault of an OrderChange names its own line of the document', async (t) => {
  const { shop, post, items } = await ordered(t)
  const before = await items()
  const lines = [
    ublLine({ id: '99', status: '3' }),
    ublLine({ id: '30', status: '3', product: 'SCREW-3', quantity: '200000', price: '' }),
    ublLine({ id: '20', status: '1', ...paint }),
    ublLine({ id: '10', status: '3', price: '9' })
  ]
  const refused = await post(ublChange({ lines }))
  t.equal(refused.statusCode, 422)
  const [note = ''] = ublAnswer(refused).notes
  const item = (n: number) => `/OrderChange/cac:OrderLine[${n}]/cac:LineItem`
  t.strictSame(
    note
      .split('\n')
      .map((reason) =>
        reason.replace(/^line \d+, (.*?), item (\d+): .*?(no line 99|line 20 already|not enough|costs 9.50).*$/, '$1 $2 $3')
      ),
    [
      `${item(1)} 99 no line 99`,
      `${item(2)}/cbc:Quantity 30 not enough`,
      `${item(3)} 20 line 20 already`,
      `${item(4)}/cac:Price/cbc:PriceAmount 10 costs 9.50`
    ]
  )
  t.match(ublAnswer(await post(ublChange({ lines: [ublLine({ id: '10', status: '5' })] }))), { code: 'RE', notes: [/LineStatusCode 5/] })
  const mixed = await post(ublChange({ lines: [ublLine({ id: '10', status: '3' }), ublLine({ id: '20', ...paint })] }))
  t.match([mixed.statusCode, ublAnswer(mixed).notes], [422, [/no LineStatusCode/]])
  t.equal((await post(ublChange({ header: ublAllowance, lines: [ublLine({ id: '10', status: '3' })] }))).statusCode, 409)
  t.equal(
    (await post(ublChange({ lines: ['10', '20', '30'].map((id) => ublLine({ id, status: '2' })) }))).statusCode,
    422,
    'no line is left'
  )
  t.same(await items(), before)
  t.equal(await onHand(shop), '98')
})

t.test('a fault of a line that the OrderChange does not name names no line of the document', async (t) => {
  const { shop, post } = await ordered(t)
  await shop.store.deleteProduct('SCREW-3', {})
  await shop.store.putProduct(
    'SCREW-3',
    { name: 'Screw', price: '1' as never, unit: 'KGM', categories: [], images: [], backorder: false },
    {}
  )
  const refused = await post(
    ublChange({ lines: [ublLine({ id: '10', status: '3', quantity: '101' }), ublLine({ id: '77', status: '3' })] })
  )
  t.equal(refused.statusCode, 422)
  for (const reason of ublAnswer(refused).notes[0]?.split('\n') ?? [])
    t.match(reason, /OrderLine\[1\].*item 10: .*BOLT-8|OrderLine\[2\].*item 77: /)
})

t.test('without LineStatusCode an OrderChange is the whole new order', async (t) => {
  const { post, items, shop } = await ordered(t)
  const changed = await post(ublChange({ lines: [ublLine({ id: '1', quantity: '3' })] }))
  t.equal(changed.statusCode, 200, changed.body)
  t.same(await items(), ['1 BOLT-8 3'])
  t.same([await onHand(shop), await onHand(shop, 'PAINT-1')], ['97', '100'])
})

t.test('a sequence number that is not above the last one is refused, whatever came between', async (t) => {
  const { post, items } = await ordered(t)
  const change = (sequence: string | undefined, quantity: string, status?: string) =>
    post(
      ublChange({
        ...(sequence === undefined ? {} : { sequence }),
        lines: [ublLine({ id: '10', quantity, ...(status ? { status } : {}) })]
      })
    )
  t.equal((await change('2', '3', '3')).statusCode, 200)
  for (const sequence of ['1', '2']) {
    const refused = await change(sequence, '4', '3')
    t.match([refused.statusCode, ublAnswer(refused)], [409, { code: 'RE', notes: [/higher version/] }], sequence)
  }
  t.equal((await change('10', '5', '3')).statusCode, 200, 'numbers, not texts')
  t.equal((await change(undefined, '6', '3')).statusCode, 200, 'without a number')
  t.equal((await change('9', '7', '3')).statusCode, 409, 'the last number still counts')
  t.equal((await change('11', '8')).statusCode, 200, 'whole')
  t.equal((await change('11', '9')).statusCode, 409)
  t.same(await items(), ['10 BOLT-8 8'])
})

t.test('an order that was shipped is neither changed nor cancelled', async (t) => {
  const { shop, id, post } = await ordered(t)
  await shop.store.setOrderStatus(id, 'shipped', {})
  for (const payload of [
    ublChange({ lines: [ublLine({ id: '10', status: '3' })] }),
    ublChange({ lines: [ublLine()] }),
    ublCancellation()
  ]) {
    const refused = await post(payload)
    t.match([refused.statusCode, ublAnswer(refused)], [409, { code: 'RE', notes: [/shipped/] }])
  }
})

t.test('an OrderCancellation is answered AP once the order is cancelled, and again', async (t) => {
  const { shop, key, url, post } = await ordered(t)
  for (const _ of [1, 2]) {
    const cancelled = await post(ublCancellation())
    t.same([cancelled.statusCode, ublAnswer(cancelled)], [200, { code: 'AP', notes: [] }])
    t.equal(cancelled.headers['content-location'], url)
  }
  t.match(await read(shop, url, key), { status: 'cancelled' })
  t.equal(await onHand(shop), '100')
  t.match([(await post(ublChange({ lines: [ublLine()] }))).statusCode], [409], 'what is cancelled is not changed')
})

t.test('an order is cancelled although other writes come first each time that it is read', async (t) => {
  const { shop, key, url, post } = await ordered(t)
  const { store } = shop
  const setOrderStatus = store.setOrderStatus.bind(store)
  store.setOrderStatus = async (id, status, ...rest) => {
    const quantity = String(1 + ((await store.order(id)).version % 5))
    t.equal((await post(ublChange({ lines: [ublLine({ id: '10', status: '3', quantity })] }))).statusCode, 200)
    return setOrderStatus(id, status, ...rest)
  }
  const cancelled = await post(ublCancellation())
  t.same([cancelled.statusCode, ublAnswer(cancelled)], [200, { code: 'AP', notes: [] }])
  t.match(await read(shop, url, key), { status: 'cancelled' })
  t.equal(await onHand(shop), '100')
})

t.test('an order number that is unknown or another customer’s is 422, and a guest is 401', async (t) => {
  const { shop } = await ordered(t)
  const other = await shop.key('other', 'order')
  const lines = [ublLine({ id: '10', status: '3' })]
  for (const payload of [ublChange({ lines }), ublChange({ lines: [ublLine()] }), ublCancellation()]) {
    const refused = await send(shop, payload, other)
    t.equal(refused.statusCode, 422)
    t.match(ublAnswer(refused), {
      code: 'RE',
      notes: [/^line \d+, \/Order\w+\/cac:OrderReference\/cbc:ID: You have no order with the number "PO-7"/]
    })
    const guest = await send(shop, payload)
    t.equal(guest.statusCode, 401)
    t.match(guest.headers['content-type'], 'application/problem+xml')
    t.ok(guest.headers['www-authenticate'])
  }
  t.match((await shop.store.orders({ limit: 5 })).items, [{ status: 'accepted', version: 1 }])
})

const italian = (number: string, state: string, lines = [ublLine({ quantity: '4' })]) =>
  ublOrder({
    number,
    header: `<cac:OrderDocumentReference><cbc:ID>PO-7#2026-11-20#ABC123#${state}</cbc:ID></cac:OrderDocumentReference>`,
    lines
  })

t.test('an Order that revises another one replaces it under its own number, once', async (t) => {
  const { shop, key, url, post, items } = await ordered(t)
  const revised = await post(italian('PO-8', 'Revised'))
  t.same([revised.statusCode, ublAnswer(revised).code], [200, 'AP'], revised.body)
  t.match(revised.body, /<cac:OrderReference>\s*<cbc:ID>PO-8<\/cbc:ID>/)
  t.match(await read(shop, url, key), { orderNumber: 'PO-8' })
  t.same(await items(), ['1 BOLT-8 4'])
  const again = await Promise.all(Array.from({ length: 20 }, () => post(italian('PO-8', 'Revised'))))
  t.same(new Set(again.map(({ statusCode }) => statusCode)), new Set([200]))
  t.equal(await orderCount(shop), 1)
  t.equal(await onHand(shop), '96')
  t.equal((await post(ublCancellation('PO-7'))).statusCode, 422, 'the old number is gone')
})

t.test('an Order that cancels another one places none', async (t) => {
  const { shop, key, url, post } = await ordered(t)
  for (const _ of [1, 2]) {
    const cancelled = await post(italian('PO-8', 'Cancelled'))
    t.same([cancelled.statusCode, ublAnswer(cancelled).code], [200, 'AP'], cancelled.body)
  }
  t.match(await read(shop, url, key), { status: 'cancelled' })
  t.equal(await orderCount(shop), 1)
  t.equal((await send(shop, italian('PO-9', 'Revised'))).statusCode, 401, 'nor does a guest')
})
