import t from 'tap'
import { build } from '../build.ts'
import { watchParses } from '../parses.ts'
import {
  cxmlAnswer,
  cxmlLine,
  cxmlOrder,
  orderCount,
  products,
  send,
  ublAllowance,
  ublAnswer,
  ublCancellation,
  ublChange,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'

/** The reasons of a refusal, without where they are. */
function reasons(answer: { body: string }): readonly string[] {
  const text = ublAnswer(answer).notes[0] ?? cxmlAnswer(answer)[1]
  return text.split('\n').map((reason) => reason.replace(/^line \d+, .*?: /, ''))
}

t.test(
  'an unknown order number is listed with all other faults of the document, and with the shop’s if the order is complete',
  async (t) => {
    const shop = await build(t, { products })
    const key = await shop.key('acme', 'order')
    const lines = [ublLine({ price: '1' }), ublLine({ id: '2', product: 'X' })]
    const whole = await send(shop, ublChange({ header: ublAllowance, lines }), key)
    t.equal(whole.statusCode, 422)
    t.match(reasons(whole), [/allowance of 5 EUR/, /no order with the number "PO-7"/, /costs 9\.50/, /no product "/])
    t.ok(whole.body.match(/line \d+, /g)?.length === 4, 'each with its place')
    const byLine = await send(shop, ublChange({ lines: [ublLine({ status: '5' }), ublLine({ id: '2', status: '6' })] }), key)
    t.match([byLine.statusCode, reasons(byLine)], [422, [/no order with the number/, /LineStatusCode 5/, /LineStatusCode 6/]])
    const cancellation = ublCancellation().replace('</OrderC', '<cac:OrderReference><cbc:ID>PO-8</cbc:ID></cac:OrderReference></OrderC')
    const cancelled = await send(shop, cancellation, key)
    t.match([cancelled.statusCode, reasons(cancelled)], [422, [/no order with the number/, /orders PO-7 and PO-8/]])
    const copy = await send(shop, ublOrder({ first: '<cbc:CopyIndicator>true</cbc:CopyIndicator>', lines }), key)
    t.match([copy.statusCode, reasons(copy)], [422, [/is a copy/, /costs 9\.50/, /no product "/]])
    t.equal(await orderCount(shop), 0)
  }
)

t.test('an outdated version is listed with the faults of the document and of the shop', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  await send(shop, ublOrder(), key)
  t.equal((await send(shop, ublChange({ sequence: '4', lines: [ublLine({ quantity: '3' })] }), key)).statusCode, 200)
  const refused = await send(shop, ublChange({ sequence: '4', header: ublAllowance, lines: [ublLine({ price: '1' })] }), key)
  t.match([refused.statusCode, reasons(refused)], [409, [/higher version/, /allowance/, /costs 9\.50/]])
  const invalid = await send(
    shop,
    ublChange({ sequence: '3', lines: [ublLine({ id: '7', status: '3' }), ublLine({ status: '3', price: '1' })] }),
    key
  )
  t.match([invalid.statusCode, reasons(invalid)], [422, [/higher version/, /no line 7/, /costs 9\.50/]])
  const unclear = await send(shop, ublChange({ sequence: 'abc', lines: [ublLine({ price: '1' })] }), key)
  t.match([unclear.statusCode, reasons(unclear)], [422, [/"abc" is not a number/, /costs 9\.50/]])
  const update = (attributes: string, lines: readonly string[]) => send(shop, cxmlOrder({ number: 'C-1', attributes, lines }), key)
  await update(' orderVersion="3"', [cxmlLine()])
  const outdated = await update(' type="update" orderVersion="3"', [cxmlLine({ price: '1' }), cxmlLine({ number: '2', product: 'X' })])
  t.match([cxmlAnswer(outdated)[0], reasons(outdated)], ['400', [/higher version/, /costs 9\.50/, /no product "/]])
})

t.test("reasons against the whole change are listed with the rest: the order's status, and a number that is taken", async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const shipped = await send(shop, ublOrder(), key)
  const taken = await send(shop, ublOrder({ number: 'PO-8' }), key)
  const id = ({ headers }: typeof shipped) => String(headers['location']).split('/').at(-1) ?? ''
  const wrong = [ublLine({ price: '1' })]
  const again = await send(shop, ublOrder({ number: 'PO-8', lines: wrong }), key)
  t.match([again.statusCode, reasons(again)], [409, [/You already have an order/, /costs 9\.50/]])
  const reference = '<cac:OrderDocumentReference><cbc:ID>PO-7#2026-11-20#A#Revised</cbc:ID></cac:OrderDocumentReference>'
  t.equal(again.headers['location'], taken.headers['location'], 'with the order that has the number')
  const revised = await send(shop, ublOrder({ number: 'PO-8', header: reference, lines: wrong }), { ...key, accept: 'application/json' })
  t.equal(revised.headers['location'], taken.headers['location'])
  t.match([revised.statusCode, revised.json().errors], [409, [{ detail: /You already have an order/, line: 4 }, { code: 'price-changed' }]])
  await shop.store.setOrderStatus(id(shipped), 'shipped', {})
  const late = await send(shop, ublChange({ lines: wrong }), key)
  t.match([late.statusCode, reasons(late)], [409, [/is shipped/, /costs 9\.50/]])
  const alone = await send(shop, ublChange({ lines: [ublLine()] }), { ...key, accept: 'application/json' })
  t.match([alone.statusCode, alone.json().type], [409, /transition-refused$/], 'alone it has its own type')
  await shop.store.setOrderStatus(id(taken), 'cancelled', {})
  const ended = await send(shop, ublOrder({ number: 'PO-8', lines: wrong }), key)
  t.match([ended.statusCode, reasons(ended)], [409, [/is cancelled/, /costs 9\.50/]])
})

t.test('an order in the shop’s own vocabulary gets only the fault of the taken number', async (t) => {
  const shop = await build(t, { products })
  const key = { ...(await shop.key('acme', 'order')), accept: 'application/json' }
  const own = (quantity: number, price = '') =>
    `<purchase-order><order-number>N</order-number><item><product-id>BOLT-8</product-id><quantity>${quantity}</quantity>${price}</item></purchase-order>`
  t.equal((await send(shop, own(1), key)).statusCode, 201)
  const refused = await send(shop, own(2, '<unit-price>1</unit-price>'), key)
  t.match([refused.statusCode, refused.json().type, refused.json().errors.length], [409, /order-number-taken$/, 1])
})

t.test('the faults of a large change are listed too, and the thread that serves does not parse it', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const parsed = watchParses(t)
  const line = (i: number, status?: string) =>
    ublLine({ id: String(i), ...(status ? { status } : {}), product: 'SCREW-3', price: i === 7 ? '1' : '' })
  const many = (status?: string) => Array.from({ length: 500 }, (_, i) => line(i, status))
  const unknown = await send(shop, ublChange({ header: ublAllowance, lines: many('1') }), key)
  t.match([unknown.statusCode, reasons(unknown)], [422, [/allowance/, /no order with the number/]])
  const copy = await send(shop, ublOrder({ first: '<cbc:CopyIndicator>true</cbc:CopyIndicator>', lines: many() }), key)
  t.match([copy.statusCode, reasons(copy)], [422, [/is a copy/, /costs 0\.0125/]])
  await send(shop, ublOrder(), key)
  const repeated = await send(shop, ublChange({ header: ublAllowance, lines: many('1') }), key)
  t.match([repeated.statusCode, reasons(repeated)], [422, [/allowance/, /has a line 1 already/, /costs 0\.0125/]])
  t.same(parsed, [])
})

t.test('a change of an unknown order says so, however many faults its lines have', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const change = (faulty: number) =>
    send(shop, ublChange({ lines: Array.from({ length: faulty }, (_, i) => ublLine({ id: String(i + 1), status: '1', quantity: 'x' })) }), {
      ...key,
      accept: 'application/json'
    })
  for (const [faulty, detail] of [
    [99, '100 errors are listed. Nothing was stored.'],
    [100, '101 errors, of which the first 100 are listed. Nothing was stored.']
  ] as const) {
    const problem = (await change(faulty)).json()
    t.match(problem, { detail, errors: [{ code: 'order-unknown' }] })
    t.equal(problem.errors.length, 100)
  }
})
