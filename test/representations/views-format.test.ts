import t from 'tap'
import { type Decimal, decimal } from '../../domain/money.ts'
import type { OrderSummary } from '../../domain/order.ts'
import { statistics } from '../../representations/statistics.ts'
import { date, forPeople, label, moment, money, perUnit, quantity } from '../../representations/views/format.ts'

t.test('money is formatted digit by digit, in the digits of its currency', async (t) => {
  const cases: readonly (readonly [value: string, currency: string, shown: string])[] = [
    ['9.99', 'EUR', '€9.99'],
    ['1234567.5', 'EUR', '€1,234,567.50'],
    ['0.0125', 'EUR', '€0.0125'],
    ['999999999999.9999', 'EUR', '€999,999,999,999.9999'],
    ['90071992547409931234.01', 'USD', '$90,071,992,547,409,931,234.01'],
    ['1200', 'JPY', '¥1,200'],
    ['1.5', 'KWD', 'KWD\u00a01.500']
  ]
  for (const [value, currency, shown] of cases) t.equal(money(decimal(value), currency), shown)
})

t.test('quantities have the name of their unit, and a code that nobody knows stands for itself', async (t) => {
  const cases: readonly (readonly [value: string, unit: string, shown: string])[] = [
    ['1', 'C62', '1 unit'],
    ['1.000', 'C62', '1 unit'],
    ['3', 'C62', '3 units'],
    ['3', 'H87', '3 pieces'],
    ['12.50', 'MTR', '12.5 m'],
    ['2', 'XBX', '2 boxes'],
    ['2', 'constructor', '2 constructor'],
    ['2', 'ZZ9', '2 ZZ9']
  ]
  for (const [value, unit, shown] of cases) t.equal(quantity(decimal(value), unit), shown)
})

t.test('a price is for one of its unit, and does not call a piece what may be a box', async (t) => {
  for (const [unit, shown] of [
    ['C62', 'each'],
    ['EA', 'each'],
    ['H87', 'per piece'],
    ['XBX', 'per box'],
    ['KGM', 'per kg'],
    ['ZZ9', 'per ZZ9']
  ] as const) {
    t.equal(perUnit(unit), shown)
  }
})

t.test('dates are written for people, and any other text stays as it is', async (t) => {
  t.equal(date('2026-12-01'), '1 Dec 2026')
  t.equal(date('2026-12-01+01:00'), '1 Dec 2026+01:00')
  t.equal(date('soon'), 'soon')
  t.equal(moment(0), '1 Jan 1970, 00:00 UTC')
  t.equal(label('requested-delivery-date'), 'Requested delivery date')
  t.equal(forPeople('<quantity> is "x"; <tax-id> too.'), 'Quantity is "x"; Tax id too.')
  t.equal(forPeople('tax-id is "x".', 'buyer.tax-id'), 'Tax id is "x".')
  t.equal(forPeople('note is "x".', 'item.1.note.2'), 'Note is "x".')
})

const wholeShop = { hasNewer: false, hasOlder: false }

function orderOf(
  status: OrderSummary['status'],
  day: string,
  items: readonly (readonly [id: string, quantity: string, unit?: string])[]
): OrderSummary {
  return {
    id: 'x',
    version: 1,
    status,
    currency: 'EUR',
    total: '0' as Decimal,
    placedAt: Date.parse(`${day}T23:59:59Z`),
    modifiedAt: 0,
    itemCount: items.length,
    lines: items.map(([productId, quantity, unit = 'KGM']) => ({ productId, name: productId, quantity: decimal(quantity), unit }))
  }
}

t.test('the statistics are sums of what is on the page', async (t) => {
  const [perDay, perProduct] = statistics(
    [
      orderOf('accepted', '2026-11-20', [
        ['A', '0.1'],
        ['B', '4']
      ]),
      orderOf('shipped', '2026-11-20', [['A', '0.2']]),
      orderOf('completed', '2026-11-19', [['A', '0.7']]),
      orderOf('cancelled', '2026-11-18', [['A', '1000']])
    ],
    wholeShop
  )
  t.same(
    perDay?.bars.map(({ name, value, share }) => [name, value, share]),
    [
      ['20 Nov 2026', '2', 100],
      ['19 Nov 2026', '1', 50]
    ]
  )
  t.same(
    perProduct?.bars.map(({ name, value, share }) => [name, value, share]),
    [
      ['B', '4 kg', 100],
      ['A', '1 kg', 25]
    ]
  )
  t.same(statistics([orderOf('rejected', '2026-11-20', [['A', '1']])], wholeShop), [])
})

t.test('orders a day leaves out a day that may go on on another page', async (t) => {
  const orders = [
    orderOf('accepted', '2026-11-20', [['A', '1']]),
    orderOf('accepted', '2026-11-19', [['A', '1']]),
    orderOf('accepted', '2026-11-19', [['A', '1']]),
    orderOf('cancelled', '2026-11-18', [['A', '1']]),
    orderOf('accepted', '2026-11-17', [['A', '1']])
  ]
  const days = (hasNewer: boolean, hasOlder: boolean, of = orders) =>
    statistics(of, { hasNewer, hasOlder })
      .find(({ title }) => title === 'Orders per day')
      ?.bars.map(({ name, value }) => `${name}: ${value}`)
  const [newest, whole, oldest] = ['20 Nov 2026: 1', '19 Nov 2026: 2', '17 Nov 2026: 1']
  t.same(days(false, false), [newest, whole, oldest])
  t.same(days(false, true), [newest, whole])
  t.same(days(true, false), [whole, oldest])
  t.same(days(true, true), [whole])
  t.same(days(true, false, orders.slice(3)), [oldest], 'a cancelled order ends a page as well as any other')
  t.equal(days(false, true, orders.slice(1, 3)), undefined, 'a page within one day has no such chart')
  t.match(statistics(orders, { hasNewer: false, hasOlder: true })[0]?.about, 'left out')
})

t.test('the units leave out orders whose summaries have no lines, and say so', async (t) => {
  const { lines: _, ...large } = orderOf('accepted', '2026-11-20', [['A', '1000']])
  const charts = statistics([orderOf('accepted', '2026-11-20', [['A', '2']]), { ...large, itemCount: 21 }], wholeShop)
  t.same(
    charts.map(({ bars }) => bars.map(({ value }) => value)),
    [['2'], ['2 kg']]
  )
  t.match(charts[1]?.about, 'Orders of more than 20 lines are left out')
  t.same(
    statistics([large], wholeShop).map(({ id }) => id),
    ['per-day']
  )
})

t.test('units of a product that has got another unit since are not added up', async (t) => {
  const orders = [orderOf('accepted', '2026-11-20', [['A', '2']]), orderOf('accepted', '2026-11-20', [['A', '3', 'MTR']])]
  t.same(
    statistics(orders, wholeShop)
      .at(-1)
      ?.bars.map(({ value }) => value),
    ['3 m', '2 kg']
  )
})
