import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { leastQuantity, meetsRule, nearestQuantities } from '../../domain/quantities.ts'

const rule = { minimum: decimal('5'), step: decimal('2') }

t.test('a quantity meets a rule if it is a multiple of the step and not below the minimum', async (t) => {
  for (const quantity of ['6', '8', '100']) t.ok(meetsRule(decimal(quantity), rule), quantity)
  for (const quantity of ['2', '4', '5', '7', '6.5']) t.notOk(meetsRule(decimal(quantity), rule), quantity)
})

t.test('the least quantity and the nearest ones meet the rule', async (t) => {
  t.equal(leastQuantity(rule), '6')
  t.same(nearestQuantities(decimal('7'), rule), ['6', '8'])
  for (const quantity of ['1', '5', '7', '9.5']) {
    for (const near of nearestQuantities(decimal(quantity), rule)) t.ok(meetsRule(near, rule), `${near} near ${quantity}`)
  }
})
