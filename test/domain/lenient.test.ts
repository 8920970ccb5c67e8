import fc from 'fast-check'
import t from 'tap'
import type { StockItem } from '../../domain/inventory.ts'
import { asOrdered, decideLeniently } from '../../domain/lenient.ts'
import { add, compare, type Decimal, decimal, isMultiple, multiply, round, zero } from '../../domain/money.ts'
import type { Order, PurchaseOrderItem } from '../../domain/order.ts'
import { decide, matchesOrder } from '../../domain/placing.ts'
import { item, purchase } from '../stores/fixtures.ts'
import { stockItem } from './stock-item.ts'

const inventoryOf = (items: readonly StockItem[]) => ({
  byId: (id: string) => items.find((one) => one.id === id),
  byGtin: () => undefined
})

const place = (stocked: readonly StockItem[], ...items: readonly PurchaseOrderItem[]) =>
  decideLeniently(purchase(items), inventoryOf(stocked), 'EUR')

const answers = (stocked: readonly StockItem[], ...items: readonly PurchaseOrderItem[]) =>
  place(stocked, ...items).items.map(({ lineStatus, quantity, reason = '' }) => [lineStatus, quantity, reason])

t.test('a line that can be had as it was ordered is accepted, and says no more', async (t) => {
  const [first] = place([stockItem('a', 5)], item('a', '3.000', { unitPrice: decimal('9.990') })).items
  t.match(first, { lineStatus: 'accepted', quantity: '3.000', unitPrice: '9.99', lineTotal: '29.97' })
  for (const name of ['orderedQuantity', 'reason', 'expectedPrice']) t.notOk(name in (first ?? {}), name)
})

t.test('a quantity is cut to what is on hand, on the step and not below the minimum', async (t) => {
  const steps = { quantityStep: decimal('2'), minimumQuantity: decimal('4') }
  t.same(answers([stockItem('a', 3)], item('a', 5)), [['changed', '3', 'Only 3 of the 5 ordered are available.']])
  t.same(answers([stockItem('a', 7, steps)], item('a', 10)), [
    ['changed', '6', 'Only 6 of the 10 ordered are available: 7 on hand, sold in multiples of 2.']
  ])
  t.same(answers([stockItem('a', 3, steps), stockItem('b', 9)], item('a', 10), item('b', 1)), [
    ['rejected', '0', 'Only 3 are on hand, and the least that can be ordered is 4.'],
    ['accepted', '1', '']
  ])
  t.same(answers([stockItem('a', 1, { quantityStep: decimal('2') }), stockItem('b', 9)], item('a', 2), item('b', 1))[0], [
    'rejected',
    '0',
    'Only 1 is on hand, and the least that can be ordered is 2.'
  ])
})

t.test('the lines of one product share its stock in their order', async (t) => {
  t.same(answers([stockItem('a', 5)], item('a', 3), item('a', 3), item('a', 1)), [
    ['accepted', '3', ''],
    ['changed', '2', 'Only 2 of the 3 ordered are available.'],
    ['rejected', '0', 'Other lines of this order take all that is left.']
  ])
  const minimum = { minimumQuantity: decimal('4') }
  t.same(
    answers([stockItem('a', 3, minimum), stockItem('b', 1)], item('a', 2), item('b'), item('a', 2)).map(([status]) => status),
    ['rejected', 'accepted', 'rejected'],
    'together they are below the minimum'
  )
})

t.test("a line that expects another price gets today's", async (t) => {
  const [first] = place([stockItem('a', 5)], item('a', 2, { unitPrice: decimal('9.50') })).items
  t.match(first, { lineStatus: 'changed', quantity: '2', unitPrice: '9.99', lineTotal: '19.98' })
  t.equal(first?.reason, 'It costs 9.99 EUR, not the expected 9.50.')
  t.notOk('orderedQuantity' in (first ?? {}), 'the quantity is as ordered')
})

t.test('a short product that can be ordered without stock is on backorder', async (t) => {
  const backorder = { backorder: true }
  t.same(answers([stockItem('a', 5, backorder)], item('a', 3), item('a', 3), item('a', 1)), [
    ['accepted', '3', ''],
    ['backordered', '3', '2 of the 3 are on hand; the rest is on backorder.'],
    ['backordered', '1', 'None is on hand; it is on backorder.']
  ])
  t.same(answers([stockItem('a', -4, backorder)], item('a', 1, { unitPrice: decimal('1') })), [
    ['changed', '1', 'It costs 9.99 EUR, not the expected 1. None is on hand; it is on backorder.']
  ])
  const limit = stockItem('a', '-999999999999.999', { ...backorder, unit: 'KGM' })
  t.same(answers([limit, stockItem('b', 1)], item('a', 1), item('b'))[0], ['rejected', '0', 'No more can be ordered now.'])
})

t.test('a rejected line keeps its place, its name and its price, and costs nothing', async (t) => {
  const { items, total, taken } = place(
    [stockItem('a', 0), stockItem('b', 5)],
    item('b'),
    item('a', 2, { lineId: '20', notes: ['n'] }),
    item('b')
  )
  t.same(
    items.map(({ line }) => line),
    [1, 2, 3]
  )
  t.same(items[1], {
    line: 2,
    productId: 'a',
    name: 'a',
    quantity: '0',
    unit: 'C62',
    unitPrice: '9.99',
    lineTotal: '0.00',
    lineId: '20',
    notes: ['n'],
    lineStatus: 'rejected',
    orderedQuantity: '2',
    reason: 'None is on hand.'
  })
  t.equal(total, '19.98')
  t.same([...taken], [['b', '2']])
})

t.test('an order of which nothing can be had is refused as if it were all or nothing', async (t) => {
  const order = purchase([item('a', 2, { unitPrice: decimal('1') }), item('b')])
  const inventory = inventoryOf([stockItem('a', 0), stockItem('b', -1)])
  const refusals = [decide, decideLeniently].map((by) => {
    try {
      by(order, inventory, 'EUR')
      return undefined
    } catch (error) {
      const { code, message, faults } = error as { code: string; message: string; faults: unknown }
      return { code, message, faults }
    }
  })
  t.match(refusals[0], { code: 'order-refused' })
  t.same(refusals[1], refusals[0])
})

t.test('an order with a line that can never be placed is refused whole, and only such lines are listed', async (t) => {
  for (const [order, code] of [
    [purchase([item('a', 9), item('none')]), 'unknown-product'],
    [purchase([item('a', 9), item('a', 1, { unit: 'KGM' })]), 'wrong-unit'],
    [purchase([item('a', 9), item('a', '0.5')]), 'wrong-quantity-step'],
    [purchase([item('a', 9)], { currency: 'USD' }), 'wrong-currency']
  ] as const) {
    try {
      decideLeniently(order, inventoryOf([stockItem('a', 1)]), 'EUR')
      t.fail(code)
    } catch (error) {
      t.match(error, { code: 'invalid-order', faults: [{ code }] })
      t.equal((error as { faults: readonly unknown[] }).faults.length, 1)
    }
  }
})

/** A product with its stock, and lines that name it in quantities that it is sold in. */
const products = fc.array(
  fc.record({
    onHand: fc.integer({ min: -3, max: 12 }),
    step: fc.integer({ min: 1, max: 3 }),
    least: fc.integer({ min: 1, max: 3 }),
    price: fc.constantFrom('9.99', '0.3333', '0.005'),
    backorder: fc.boolean(),
    measured: fc.boolean()
  }),
  { minLength: 1, maxLength: 3 }
)
const wanted = fc.array(
  fc.record({
    product: fc.nat({ max: 2 }),
    steps: fc.integer({ min: 3, max: 6 }),
    expected: fc.constantFrom(undefined, '9.99', '0.3333', '1')
  }),
  { minLength: 1, maxLength: 8 }
)

t.test('any order takes no more than there is, its totals add up, and every line is answered', async () => {
  fc.assert(
    fc.property(products, wanted, (kinds, lines) => {
      const items = kinds.map(({ onHand, step, least, price, backorder, measured }, i) =>
        stockItem(String(i), onHand, {
          price: decimal(price),
          unit: measured ? 'KGM' : 'C62',
          quantityStep: decimal(measured ? `0.00${step}` : String(step)),
          minimumQuantity: decimal(measured ? '0.001' : String(least)),
          backorder
        })
      )
      const inventory = inventoryOf(items)
      const productOf = (index: number) => items[index % items.length] as StockItem
      const order = purchase(
        lines.map(({ product, steps, expected }) => {
          const { id, quantityStep = zero } = productOf(product)
          const quantity = multiply(decimal(String(steps)), quantityStep)
          return item(id, quantity, expected === undefined ? {} : { unitPrice: decimal(expected) })
        }),
        { orderNumber: 'PO-1' }
      )
      const attempt = (by: typeof decideLeniently) => {
        try {
          return by(order, inventory, 'EUR')
        } catch {
          return undefined
        }
      }
      const strict = attempt(decide)
      const decision = attempt(decideLeniently)
      if (!decision) return strict === undefined
      const sums = new Map<string, Decimal>()
      for (const { productId, quantity } of decision.items) sums.set(productId, add(sums.get(productId) ?? zero, quantity))
      const holds = decision.items.every((line, i) => {
        const sent = order.items[i]
        const product = inventory.byId(line.productId)
        if (!sent || !product || line.lineStatus === undefined) return false
        const isCut = compare(line.quantity, sent.quantity) < 0
        return (
          line.line === i + 1 &&
          compare(line.quantity, sent.quantity) <= 0 &&
          isMultiple(line.quantity, product.quantityStep ?? decimal('1')) &&
          isCut === (line.orderedQuantity !== undefined) &&
          (line.lineStatus === 'rejected') === (compare(line.quantity, zero) === 0) &&
          (line.lineStatus === 'accepted') === (line.reason === undefined) &&
          compare(line.unitPrice, product.price) === 0
        )
      })
      const isCovered = [...sums].every(([id, sum]) => {
        const product = inventory.byId(id)
        if (!product || compare(sum, zero) === 0) return product !== undefined
        return (product.backorder || compare(sum, product.onHand) <= 0) && compare(sum, product.minimumQuantity ?? zero) >= 0
      })
      const exact = [...sums].reduce((sum, [id, quantity]) => {
        const amount = multiply(quantity, inventory.byId(id)?.price ?? zero)
        return add(sum, round(amount, 2))
      }, zero)
      const isTaken = [...decision.taken].every(([id, quantity]) => compare(quantity, sums.get(id) ?? zero) === 0)
      const isSame =
        !strict ||
        decision.items.every(({ lineStatus, reason: _, ...line }, i) => {
          const isAsOrdered = lineStatus === 'accepted' || (lineStatus === 'backordered' && inventory.byId(line.productId)?.backorder)
          return isAsOrdered && JSON.stringify(line) === JSON.stringify(strict.items[i])
        })
      const placed = { ...order, ...decision, id: 'x', version: 1, status: 'accepted', placedAt: 0, modifiedAt: 0 } as unknown as Order
      const again = asOrdered(placed)
      const isKnownAgain = again !== undefined && matchesOrder(order, again, inventory, 'EUR')
      return holds && isCovered && compare(decision.total, exact) === 0 && isTaken && isSame && isKnownAgain
    }),
    { numRuns: 2_000 }
  )
})
