import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { StockLedger } from '../../stores/postgres/stock-ledger.ts'

const row = {
  seq: 1,
  id: 'ABC-1',
  version: 1,
  name: 'Hex bolt',
  price: decimal('9.99'),
  unit: 'C62',
  minimum_quantity: null,
  quantity_step: null,
  gtin: null,
  backorder: false,
  availability: 'in-stock',
  deleted: false,
  stock_version: 1,
  on_hand: decimal('10'),
  stock_modified_at: 0
} as const

t.test('on PostgreSQL nothing is taken of an order with a product whose stock is not locked', async (t) => {
  const stock = new StockLedger([row])
  const order = new Map([
    ['ABC-1', decimal('4')],
    ['ABC-2', decimal('1')]
  ])
  t.throws(() => stock.take(order, 0), { message: 'the stock of ABC-2 is not locked' })
  t.equal(stock.byId('ABC-1')?.onHand, decimal('10'))
  stock.take(new Map([['ABC-1', decimal('4')]]), 0)
  t.equal(stock.byId('ABC-1')?.onHand, decimal('6'))
})
