import t from 'tap'
import { compare, type Decimal, decimal, isMultiple } from '../../domain/money.ts'
import { leastQuantity, nearestQuantities } from '../../domain/quantities.ts'

const rule = { minimum: decimal('5'), step: decimal('2') }
const meetsRule = (quantity: Decimal) => isMultiple(quantity, rule.step) && compare(quantity, rule.minimum) >= 0

t.test('the least quantity and the nearest ones meet the rule', async (t) => {
  t.equal(leastQuantity(rule), '6')
  t.same(nearestQuantities(decimal('7'), rule), ['6', '8'])
  for (const quantity of ['1', '5', '7', '9.5']) {
    for (const near of nearestQuantities(decimal(quantity), rule)) t.ok(meetsRule(near), `${near} near ${quantity}`)
  }
})
