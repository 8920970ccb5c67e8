import t from 'tap'
import { checkCurrency, wrongCurrency } from '../../domain/currency.ts'

t.test('a store with prices is opened only with their currency', async (t) => {
  checkCurrency('EUR', 'EUR', true)
  checkCurrency('EUR', 'JPY', false)
  for (const stored of [null, undefined]) checkCurrency(stored, 'EUR', true)
  const message = /prices in this database are in EUR, and CURRENCY is JPY: set CURRENCY=EUR, or begin a new database for JPY/
  t.throws(() => checkCurrency('EUR', 'JPY', true), { name: 'StoreOpenError', message })
})

t.test('a store without prices is not opened with a currency that does not exist; one that has its prices in it is', async (t) => {
  const message = /^CURRENCY is EUT, which is not an ISO 4217 currency code: correct it$/
  for (const stored of [null, undefined, 'EUR', 'EUT'])
    t.throws(() => checkCurrency(stored, 'EUT', false), { name: 'StoreOpenError', message })
  checkCurrency('EUT', 'EUT', true)
})

t.test('an amount in another currency is named with the element that says so', async (t) => {
  const detail = 'This shop sells in EUR, not in USD.'
  t.same(wrongCurrency('EUR', 'USD', 'price'), { code: 'wrong-currency', at: ['price'], detail })
})
