import t from 'tap'
import { decimal } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { priceLines } from '../../domain/pricing.ts'

t.test('a line that had many prices looks at each of them a few times', async (t) => {
  let looks = 0
  const previous = Array.from(
    { length: 2_000 },
    (_, i): OrderItem => ({
      line: i + 1,
      productId: 'a',
      name: 'a',
      quantity: decimal('1'),
      unit: 'C62',
      get unitPrice() {
        looks++
        return decimal(String(i + 1))
      },
      lineTotal: decimal('0'),
      notes: []
    })
  )
  const today = { name: 'a', unit: 'C62', unitPrice: decimal('5000') }
  const [priced] = priceLines([{ productId: 'a', quantity: decimal('2001'), unit: undefined, unitPrice: undefined, today }], previous)
  t.equal(priced?.pieces.length, 2_001)
  t.same(priced?.pieces.at(-1)?.unitPrice, decimal('5000'), 'the rest is sold on the terms of today')
  t.ok(looks > 0 && looks < 40 * previous.length, `${looks} times`)
})
