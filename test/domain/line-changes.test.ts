import t from 'tap'
import { changeLines, type LineChange, mostTextCharacters } from '../../domain/line-changes.ts'
import { decimal } from '../../domain/money.ts'
import { type Extension, mostTexts, type Order, type OrderItem, type PurchaseOrderItem } from '../../domain/order.ts'
import { item, purchase } from '../stores/fixtures.ts'
import { placedItem, placedOrder } from './placed-order.ts'

const orderOf = (...items: readonly OrderItem[]) =>
  placedOrder(items, {
    orderNumber: 'PO-1',
    issueDate: '2026-11-20',
    buyer: { name: 'ACME' },
    notes: ['first'],
    extensions: [{ name: 'a', value: '1' }]
  })

const three = orderOf(
  placedItem(1, { lineId: '10' }),
  placedItem(2, { lineId: '20', productId: 'b' }),
  placedItem(3, { lineId: '30', productId: 'c' })
)
const terms = { alsoNamed: [], units: [] }
const sent = (productId: string, quantity: number, more: Partial<PurchaseOrderItem> = {}) =>
  item(productId, quantity, { quoted: terms, ...more })

/** The order after the changes: products and quantities, the positions, and the codes of faults with their places. */
function after(before: Order, ...changes: readonly (readonly [LineChange['kind'], string | undefined, PurchaseOrderItem])[]) {
  const document = purchase(changes.map(([, , one]) => one))
  const { order, positions, faults } = changeLines(
    before,
    document,
    changes.map(([kind, lineId]) => ({ kind, ...(lineId === undefined ? {} : { lineId }) }))
  )
  return {
    items: order.items.map(({ product, quantity, lineId }) =>
      [lineId, 'productId' in product ? product.productId : product.gtin, quantity].join(' ')
    ),
    positions,
    faults: faults.map(({ code, at }) => `${code} ${at?.join('.')}`)
  }
}

t.test('lines are added at the end, changed and deleted in their place', async (t) => {
  t.strictSame(
    after(
      three,
      ['added', '40', sent('d', 1, { lineId: '40' })],
      ['deleted', '20', sent('-', 1)],
      ['changed', '10', sent('a', 5, { lineId: '10' })],
      ['untouched', '30', sent('-', 1)]
    ),
    { items: ['10 a 5', '30 c 2', '40 d 1'], positions: [3, undefined, 1], faults: [] }
  )
})

t.test('a line that was deleted can be added again', async (t) => {
  t.strictSame(after(three, ['deleted', '10', sent('-', 1)], ['added', '10', sent('d', 1, { lineId: '10' })]), {
    items: ['20 b 2', '30 c 2', '10 d 1'],
    positions: [undefined, undefined, 2],
    faults: []
  })
})

t.test('the fault of an impossible change names the line of the document', async (t) => {
  const { items, faults } = after(
    three,
    ['changed', '99', sent('a', 1)],
    ['deleted', undefined, sent('a', 1)],
    ['untouched', '98', sent('a', 1)],
    ['added', '20', sent('a', 1)],
    ['added', '50', sent('-', 1, { quoted: { ...terms, isUnnamed: true } })],
    ['added', '51', sent('a', 1, { quoted: { ...terms, isUncounted: true } })]
  )
  t.strictSame(items, ['10 a 2', '20 b 2', '30 c 2'])
  t.strictSame(faults, [
    'line-unknown item.1',
    'line-unknown item.2',
    'line-unknown item.3',
    'repeated-line-id item.4',
    'free-text-line item.5',
    'missing-value item.6'
  ])
})

t.test('a change that leaves no line is refused', async (t) => {
  const { faults } = after(orderOf(placedItem(1)), ['deleted', '1', sent('-', 1)])
  t.strictSame(faults, ['no-line-left undefined'])
})

t.test('a changed line keeps what the document leaves out', async (t) => {
  const before = orderOf(
    placedItem(1, { lineId: '10', notes: ['blue'], requestedDeliveryDate: '2026-12-01', extensions: [{ name: 'x', value: 'y' }] })
  )
  const change = (one: PurchaseOrderItem) => changeLines(before, purchase([one]), [{ kind: 'changed', lineId: '10' }]).order.items[0]
  t.match(change(sent('-', 1, { quoted: { ...terms, isUnnamed: true, isUncounted: true } })), {
    product: { productId: 'a' },
    quantity: '2',
    lineId: '10',
    notes: ['blue'],
    requestedDeliveryDate: '2026-12-01',
    extensions: [{ name: 'x', value: 'y' }]
  })
  t.match(change(sent('b', 4, { notes: ['red'], requestedDeliveryDate: '2026-12-09' })), {
    product: { productId: 'b' },
    quantity: '4',
    notes: ['red'],
    requestedDeliveryDate: '2026-12-09',
    extensions: [{ name: 'x', value: 'y' }]
  })
})

t.test('the extensions of changes are kept, also where the line has as many as it can have', async (t) => {
  const extensions = Array.from({ length: mostTexts }, (_, i) => ({ name: `n${i}`, value: 'old' }))
  const change = (before: OrderItem, ...changed: readonly Extension[]) => {
    const order = orderOf({ ...before, lineId: '10' })
    const { order: after } = changeLines(order, purchase([sent('-', 1, { extensions: changed })]), [{ kind: 'changed', lineId: '10' }])
    return after.items[0]?.extensions ?? []
  }
  const first = change(placedItem(1, { extensions }), { name: 'n5', value: 'new' }, { name: 'first', value: 'new' })
  t.equal(first.length, mostTexts)
  t.same(first.slice(-2), [
    { name: 'n5', value: 'new' },
    { name: 'first', value: 'new' }
  ])
  const second = change(placedItem(1, { extensions: first }), { name: 'second', value: 'new' })
  t.equal(second.length, mostTexts)
  t.same(
    second.slice(-3).map(({ name }) => name),
    ['n5', 'first', 'second']
  )
  t.notOk(
    second.some(({ name }) => name === 'n1'),
    'the oldest had no room'
  )
})

t.test('lines without a number have their position; no line is lost where numbers repeat', async (t) => {
  const mixed = orderOf(placedItem(1, { lineId: '2' }), placedItem(2, { productId: 'b' }), placedItem(3, { productId: 'c' }))
  t.strictSame(after(mixed, ['changed', '3', sent('c', 9)]).items, ['2 a 2', ' b 2', ' c 9'])
  const ambiguous = after(mixed, ['deleted', '2', sent('-', 1)])
  t.strictSame(ambiguous, {
    items: ['2 a 2', ' b 2', ' c 2'],
    positions: [undefined, undefined, undefined],
    faults: ['repeated-line-id item.1']
  })
})

t.test('parts of a line with two prices are one line; a line of its own is not', async (t) => {
  const dearer = { unitPrice: decimal('12') }
  t.strictSame(after(orderOf(placedItem(1, { lineId: '10' }), placedItem(2, dearer), placedItem(3, { unitPrice: decimal('15') }))).items, [
    '10 a 6'
  ])
  t.strictSame(after(orderOf(placedItem(1, { lineId: '10' }), placedItem(2, { ...dearer, notes: ['mine'] }))).items, ['10 a 2', ' a 2'])
  t.strictSame(after(orderOf(placedItem(1, { lineId: '10' }), placedItem(2))).items, ['10 a 2', ' a 2'], 'the same price')
})

t.test('the header of the document replaces what it has, but number and date of the order', async (t) => {
  const document = purchase([], { issueDate: '2027-01-01', orderNumber: 'X', shipTo: { name: 'Dock' }, notes: ['new'], currency: 'EUR' })
  const { order } = changeLines(three, document, [])
  t.match(order, {
    orderNumber: 'PO-1',
    issueDate: '2026-11-20',
    buyer: { name: 'ACME' },
    shipTo: { name: 'Dock' },
    notes: ['new'],
    extensions: [{ name: 'a', value: '1' }]
  })
})

t.test('what the document leaves out of a party stays; of a party with another name, only its address', async (t) => {
  const address = { city: 'Gouda' }
  const before = { ...three, buyer: { name: 'ACME', email: 'a@acme.example', address }, shipTo: { name: 'Works', phone: '1', address } }
  const after = (header: Parameters<typeof purchase>[1]) => {
    const { buyer, shipTo, billTo } = changeLines(before, purchase([], header), []).order
    return { buyer, shipTo, billTo }
  }
  const { buyer, shipTo } = before
  t.same(after({ buyer: { name: ' acme ' }, shipTo: { contact: 'Jo' } }), {
    buyer: { ...buyer, name: ' acme ' },
    shipTo: { ...shipTo, contact: 'Jo' },
    billTo: undefined
  })
  t.same(after({ buyer: { name: 'Globex' }, shipTo: { name: 'Yard' }, billTo: { name: 'Bank' } }), {
    buyer: { name: 'Globex', address },
    shipTo: { name: 'Yard', address },
    billTo: { name: 'Bank' }
  })
  t.same(after({ shipTo: { address: { city: 'GOUDA' } } }).shipTo, { ...shipTo, address: { city: 'GOUDA' } })
  t.same(after({ shipTo: { address: { city: 'Delft' } } }).shipTo, { address: { city: 'Delft' } }, 'who is there is not known')
})

t.test('notes and extensions have a limit together; where they are over it already, they may get shorter', async (t) => {
  // As many characters as the order has in its header: 'first', 'a' and '1'.
  const ofHeader = 7
  const texts = (characters: number) => ({ notes: ['n'], extensions: [{ name: 'x', value: 'v'.repeat(characters - 2) }] })
  const orderWith = (characters: number) => orderOf(placedItem(1, { lineId: '10' }), placedItem(2, { lineId: '20', ...texts(characters) }))
  const added = (characters: number) => ['added', '30', sent('c', 1, { lineId: '30', ...texts(characters) })] as const
  const full = orderWith(mostTextCharacters - ofHeader - 2)
  t.strictSame(after(full, added(2)).faults, [])
  t.strictSame(after(full, added(3)).faults, ['too-much-text undefined'])
  t.strictSame(after(full, ['deleted', '20', sent('-', 1)], added(1000)).faults, [])
  const over = orderWith(2 * mostTextCharacters)
  t.strictSame(after(over, ['changed', '10', sent('a', 5, { lineId: '10' })]).faults, [])
  t.strictSame(after(over, added(2)).faults, ['too-much-text undefined'])
  t.strictSame(after(over, ['deleted', '20', sent('-', 1)]).faults, [])
})
