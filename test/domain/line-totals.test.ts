import t from 'tap'
import { makeLineTotals } from '../../domain/line-totals.ts'
import { add, type Decimal, decimal, multiply, round, zero } from '../../domain/money.ts'

const sum = (all: readonly Decimal[]) => all.reduce<Decimal>(add, zero)

t.test('a single line is rounded half-up to the minor unit', async (t) => {
  for (const [amount, digits, total] of [
    ['24.975', 2, '24.98'],
    ['24.974', 2, '24.97'],
    ['0.5', 0, '1'],
    ['1.0005', 3, '1.001'],
    ['3', 2, '3.00']
  ] as const) {
    t.equal(makeLineTotals(digits)('a', decimal(amount)), total)
  }
})

t.test('however a quantity is cut into lines, they cost what one line of it costs', async (t) => {
  for (const digits of [0, 2, 3]) {
    for (const price of ['4.35', '0.0049', '0.005', '999.9999', '0.3333']) {
      for (const cut of [['0.001', '0.001', '0.999'], ['0.333', '0.333', '0.334'], Array.from({ length: 997 }, () => '0.003')]) {
        const totals = makeLineTotals(digits)
        const quantities = cut.map(decimal)
        const lines = quantities.map((quantity) => totals('a', multiply(quantity, decimal(price))))
        t.equal(sum(lines), makeLineTotals(digits)('a', multiply(sum(quantities), decimal(price))), `${cut.length} lines at ${price}`)
        t.equal(sum(lines), round(multiply(sum(quantities), decimal(price)), digits))
      }
    }
  }
})
