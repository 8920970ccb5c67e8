import t from 'tap'
import { isExpectedPrice } from '../../domain/line-faults.ts'
import { type Decimal, decimal } from '../../domain/money.ts'
import type { ProductReference, QuotedPrice, QuotedTerms } from '../../domain/order.ts'
import { decidePlacing } from '../../domain/order-writes.ts'
import { decide, emptyInventory, matchesOrder } from '../../domain/placing.ts'
import { item, purchase } from '../stores/fixtures.ts'
import { stockItem } from './stock-item.ts'

const items = [stockItem('bolt', 1000), stockItem('paint', 1000, { unit: 'KGM' }), stockItem('old', 1000, { deleted: true })]
const gtins: Readonly<Record<string, string>> = { 4006381333931: 'bolt', 96385074: 'paint' }
const inventory = {
  byId: (id: string) => items.find((one) => one.id === id),
  byGtin: (gtin: string) => items.find((one) => one.id === gtins[gtin])
}
const quoted = (product: ProductReference, more: Partial<QuotedTerms> = {}) =>
  purchase([{ ...item('x', 2), product, quoted: { alsoNamed: [], units: [], ...more } }])
const place = (order: ReturnType<typeof quoted>) => decide(order, inventory, 'EUR').items[0]
const faults = (order: ReturnType<typeof quoted>): readonly string[] => {
  try {
    place(order)
    return []
  } catch (error) {
    return (error as { faults: readonly { code: string }[] }).faults.map(({ code }) => code)
  }
}

function isQuotedPrice(price: Decimal, quoted: QuotedPrice | undefined): boolean {
  return isExpectedPrice(price, { quoted: { alsoNamed: [], units: [], ...(quoted ? { price: quoted } : {}) } })
}

t.test('an item without terms of a document expects its unit price, or any', async (t) => {
  t.ok(isExpectedPrice(decimal('9.99'), { unitPrice: decimal('9.990') }))
  t.notOk(isExpectedPrice(decimal('9.99'), { unitPrice: decimal('9.98') }))
  t.ok(isExpectedPrice(decimal('9.99'), {}))
})

t.test('an amount holds when it is the price of its base, rounded half up to its own decimals', async (t) => {
  for (const [price, amount, base, holds] of [
    ['9.99', '9.99', '1', true],
    ['9.99', '9.99000', '1', true],
    ['9.99', '9.98', '1', false],
    ['0.0125', '0.01', '1', true],
    ['0.015', '0.02', '1', true],
    ['0.0125', '0.013', '1', true],
    ['0.0125', '0.012', '1', false],
    ['0.0125', '12.5', '1000', true],
    ['0.0125', '12.50', '1000', true],
    ['0.0125', '12.51', '1000', false],
    ['3', '10', '3.333', true],
    ['3', '9.999', '3.333', true],
    ['0', '0.00', '1', true]
  ] as const) {
    t.equal(isQuotedPrice(decimal(price), { amount: decimal(amount), base: decimal(base) }), holds, `${amount} for ${base} at ${price}`)
  }
  t.ok(isQuotedPrice(decimal('120'), { amount: decimal('10'), base: decimal('1'), factor: decimal('12') }))
  t.notOk(isQuotedPrice(decimal('10'), { amount: decimal('10'), base: decimal('1'), factor: decimal('12') }))
  t.ok(isQuotedPrice(decimal('1'), undefined))
})

t.test('a product is found by any of its names, and the order has the name that found it', async (t) => {
  t.match(place(quoted({ productId: 'bolt' }, { alsoNamed: [{ gtin: '4006381333931' }] })), { productId: 'bolt' })
  t.notOk('gtin' in (place(quoted({ productId: 'bolt' }, { alsoNamed: [{ gtin: '4006381333931' }] })) ?? {}))
  t.match(place(quoted({ productId: 'ours' }, { alsoNamed: [{ gtin: '4006381333931' }] })), { productId: 'bolt', gtin: '4006381333931' })
  t.match(place(quoted({ gtin: '04006381333931' }, { alsoNamed: [{ gtin: '4006381333931' }] })), {
    productId: 'bolt',
    gtin: '4006381333931'
  })
  t.match(
    place(quoted({ productId: 'old' }, { alsoNamed: [{ gtin: '4006381333931' }] })),
    { productId: 'bolt' },
    'what is no longer sold does not count'
  )
  t.same(faults(quoted({ productId: 'bolt' }, { alsoNamed: [{ gtin: '96385074' }] })), ['two-products'])
  t.same(faults(quoted({ productId: 'ours' }, { alsoNamed: [{ gtin: '00000000' }] })), ['unknown-product'])
})

t.test('any code of the unit will do, and no code is the product’s unit', async (t) => {
  t.match(place(quoted({ productId: 'bolt' }, { units: ['EA', 'C62'] })), { unit: 'C62' })
  t.match(place(quoted({ productId: 'paint' }, { units: ['KG', 'KGM'] })), { unit: 'KGM' })
  t.match(place(quoted({ productId: 'paint' })), { unit: 'KGM' })
  t.same(faults(quoted({ productId: 'paint' }, { units: ['EA', 'C62'] })), ['wrong-unit'])
  t.same(faults(quoted({ productId: 'bolt' }, { units: ['KG', 'KGM'] })), ['wrong-unit'])
})

t.test('a price that differs is refused', async (t) => {
  const price = { amount: decimal('9.50'), base: decimal('1') }
  t.same(faults(quoted({ productId: 'bolt' }, { price })), ['price-changed'])
})

t.test('a repeated document is the order, by whatever name the product was found', async (t) => {
  const none = () => undefined
  const shop = { currency: 'EUR', now: 1, inventory, activeOrderNumbered: none, activeIdNumbered: none, orderOfDocument: none }
  for (const order of [
    quoted({ productId: 'bolt' }, { units: ['EA', 'C62'], price: { amount: decimal('9.990'), base: decimal('1') } }),
    quoted({ productId: 'ours' }, { alsoNamed: [{ gtin: '04006381333931' }, { gtin: '4006381333931' }] })
  ]) {
    const { order: placed } = decidePlacing({ order, status: 'accepted' }, 'o', shop)
    t.ok(matchesOrder(order, placed, emptyInventory, 'EUR'))
    t.notOk(matchesOrder(quoted({ productId: 'paint' }), placed, emptyInventory, 'EUR'))
    t.notOk(matchesOrder(quoted({ productId: 'bolt' }, { units: ['KGM'] }), placed, emptyInventory, 'EUR'))
    t.notOk(
      matchesOrder(quoted({ productId: 'bolt' }, { price: { amount: decimal('1'), base: decimal('1') } }), placed, emptyInventory, 'EUR')
    )
  }
})
