import t from 'tap'
import { makeLineTotals } from '../../domain/line-totals.ts'
import { decimal, multiply } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { priceLines } from '../../domain/pricing.ts'
import { quantityRule } from '../../domain/quantities.ts'
import { keptPrices, quantityLimits as ofService } from '../../representations/views/order-form-products.ts'
import { unitTerms } from '../../representations/views/units.ts'

interface Line {
  readonly id: string
  readonly count: bigint | undefined
  readonly price: bigint | undefined
}
type MakeSums = (lines: readonly Line[], kept: object, digits: number) => readonly (bigint | undefined)[]

const script = new URL('../../representations/public/order-sums.js', import.meta.url)
const { makeSums, quantityFault, quantityLimits, units } = (await import(script.href)) as {
  makeSums: MakeSums
  quantityFault: (text: string, rule?: { readonly least?: string; readonly step?: string; readonly shipped?: string }) => string
  quantityLimits: (product: object, step: string | undefined) => { readonly least?: string; readonly step?: string }
  units: (text: string, scale: number) => bigint | undefined
}

const line = (id: string, quantity: string, price: string): Line => ({ id, count: units(quantity, 3), price: units(price, 4) })

/** A line of an order before it is changed. */
const kept = (quantity: string, unitPrice: string, shippedQuantity?: string): OrderItem => ({
  line: 1,
  productId: 'a',
  name: '',
  unit: 'KGM',
  quantity: decimal(quantity),
  unitPrice: decimal(unitPrice),
  lineTotal: decimal('0'),
  notes: [],
  ...(shippedQuantity !== undefined && { shippedQuantity: decimal(shippedQuantity) })
})

t.test('the script adds lines up as the service does: kept prices first, the lines of a product rounded together', async (t) => {
  const orders: Readonly<Record<string, readonly OrderItem[]>> = {
    'nothing is shipped': [kept('5', '10'), kept('3', '12')],
    'the second line is shipped in part': [kept('5', '10'), kept('5', '12', '2')]
  }
  for (const [name, previous] of Object.entries(orders)) {
    const prices = JSON.parse(keptPrices(previous) ?? '') as object
    for (const quantities of [['5', '3'], ['3', '5'], ['4'], ['8'], ['10'], ['12'], ['1', '3', '6'], ['0.001', '0.001', '7.999']]) {
      const today = { name: '', unit: 'KGM', unitPrice: decimal('4.35') }
      const wanted = quantities.map((quantity) => ({
        productId: 'a',
        quantity: decimal(quantity),
        unit: undefined,
        unitPrice: undefined,
        today
      }))
      const totals = makeLineTotals(2)
      const expected = priceLines(wanted, previous).map(({ pieces }) =>
        pieces.reduce((sum, { quantity, unitPrice }) => sum + BigInt(totals('a', multiply(quantity, unitPrice)).replace('.', '')), 0n)
      )
      const lines = quantities.map((quantity) => line('a', quantity, '4.35'))
      t.same(makeSums(lines, prices, 2), expected, `${name}: ${quantities.join()}`)
    }
  }
})

t.test('a line that is not complete has no sum, and spoils no other', async (t) => {
  const lines = [line('a', '', '1'), line('a', '2', '1'), line('b', '2', ''), line('b', '1', ''), line('c', '1', '0.005')]
  t.same(makeSums(lines, { b: [['3', '1']] }, 2), [undefined, 200n, undefined, 300n, 1n])
})

t.test('a browser says how to write a quantity, and which ones are nearest', async (t) => {
  const rule = { least: '12', step: '4' }
  for (const [text, fault] of [
    ['12', ''],
    [' 16 ', ''],
    ['8', 'Order at least 12.'],
    ['0', 'Order at least 12.'],
    ['17.5', 'Order 16 or 20.'],
    ['1,5', 'Write 1.5.'],
    ['1,500', 'Write 1.500 or 1500.'],
    ['three', '']
  ] as const)
    t.equal(quantityFault(text, rule), fault, text)
  t.equal(quantityFault('0.0125', { least: '0.001', step: '0.001' }), '', 'more digits than a quantity can have: the service says so')
  t.equal(quantityFault('2.5', { least: '0.5', step: '0.5' }), '')
  const shipped = { least: '1', step: '1', shipped: '4' }
  t.equal(quantityFault('3', shipped), 'Order at least 4, because that was shipped.')
  t.equal(quantityFault('3', { shipped: '4' }), 'Order at least 4, because that was shipped.', 'also of what is no longer sold')
  for (const text of ['4', '5', '']) t.equal(quantityFault(text, shipped), '', text)
  t.equal(quantityFault('2.7', { least: '0.5', step: '0.5' }), 'Order 2.5 or 3.')
  for (const unknown of [{}, undefined]) t.equal(quantityFault('1.5', unknown), '', 'a product without a rule, or none')
})

t.test('the script finds the least quantity and the step of a product as the service does', async (t) => {
  const terms = unitTerms()
  for (const unit of ['C62', 'KGM', 'BX'])
    for (const minimum of [undefined, '10', '0.5', '1'])
      for (const step of [undefined, '4', '0.25', '1']) {
        const product = {
          unit,
          ...(minimum !== undefined && { minimumQuantity: decimal(minimum) }),
          ...(step !== undefined && { quantityStep: decimal(step) })
        }
        t.same(quantityLimits(product, terms[unit]?.step), ofService(quantityRule(product)), JSON.stringify(product))
      }
  t.same(quantityLimits({ minimumQuantity: '2' }, undefined), {}, 'of a unit without a name only the service knows it')
  t.same(quantityLimits({ minimumQuantity: '2', quantityStep: '3' }, undefined), { least: '3', step: '3' })
})
