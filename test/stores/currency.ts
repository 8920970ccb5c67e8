import type { Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import { draft, shopCurrency } from './fixtures.ts'

/** @param open opens the same database each time, which is new at the first */
export async function keepsItsCurrency(t: Test, open: (currency: string) => Promise<Store>): Promise<void> {
  await (await open(shopCurrency)).close()
  const inYen = await open('JPY')
  await inYen.createProduct('a', draft())
  await inYen.close()
  await t.rejects(open(shopCurrency), /prices in this database are in JPY.*CURRENCY is EUR/)
  const again = await open('JPY')
  t.equal((await again.product('a')).currency, 'JPY')
  await again.close()
}
