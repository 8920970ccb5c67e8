import t from 'tap'
import { guest } from '../../domain/caller.ts'
import { decimal } from '../../domain/money.ts'
import type { OrderItem } from '../../domain/order.ts'
import { renderRefusedForm } from '../../representations/views/order-form.ts'
import { fitsForm } from '../../representations/views/order-form-lines.ts'
import { noProducts } from '../../representations/views/order-form-products.ts'

const maxBytes = 64 * 1024
const context = { base: '', currency: 'EUR', shop: 'Shop', caller: guest, self: '/order' }

/**
 * Renders a form that was refused for each of the notes of its first lines.
 * @returns the page, and how often one was rendered
 */
function rendered(notes: number, lines: number, linesWithNotes = 1) {
  const names = Array.from({ length: linesWithNotes }, (_, line) =>
    Array.from({ length: notes }, (_, i) => `item.${line + 1}.note.${i + 1}`)
  ).flat()
  const others = Array.from({ length: lines - 1 }, (_, i) => [`item.${i + 2}.quantity`, '1'] as const)
  const values = new Map([['item.1.product-id', 'x'] as const, ...names.map((name) => [name, 'a'] as const), ...others])
  const errors = names.slice(0, 100).map((path) => ({ path, detail: 'The text has a control character, which no document can hold.' }))
  const problem = {
    type: '/problems/invalid-document',
    title: 'Not valid',
    status: 422,
    detail: 'See the list.',
    instance: '/order',
    errors
  }
  let times = 0
  const form = {
    // Each attempt reads the title once.
    get title() {
      times++
      return 'Order'
    },
    action: '/order',
    values,
    products: noProducts,
    guestsMayOrder: true,
    problem
  }
  const page = renderRefusedForm(form, context, false, maxBytes) ?? ''
  return { page, times }
}

t.test('a refused form is rendered a few times at most, whatever its lines have', async (t) => {
  for (const [notes, lines, most] of [
    [2, 10, 1],
    [100, 1, 2],
    [2_000, 1, 2],
    [110, 50, 3],
    [5, 200, 3]
  ] as const) {
    const { page, times } = rendered(notes, lines)
    t.ok(times <= most, `${notes} notes and ${lines} lines: ${times} times`)
    t.ok(page.length > 1_000 && Buffer.byteLength(page) <= maxBytes, 'and the page fits')
  }
})

t.test('a line with very many fields, and those after it, are left out at once', async (t) => {
  const { page, times } = rendered(90, 9, 9)
  t.equal(times, 1)
  t.match(page, 'name="item.1.note.90"')
  t.notMatch(page, 'item.2.note.')
})

t.test('a change form shows 400 notes and extensions at most', async (t) => {
  const texts = (count: number) => Array.from({ length: count }, () => 'a')
  const item = (notes: number): OrderItem => ({
    line: 1,
    productId: 'a',
    name: 'a',
    quantity: decimal('1'),
    unit: 'C62',
    unitPrice: decimal('1'),
    lineTotal: decimal('1'),
    notes: texts(notes)
  })
  t.ok(fitsForm({ items: [item(200), item(199)], notes: ['a'], extensions: [] }))
  t.notOk(fitsForm({ items: [item(200), item(200)], notes: ['a'], extensions: [] }))
})
