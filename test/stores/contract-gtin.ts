import type { ProductReference } from '../../domain/order.ts'
import type { Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { item, placing, purchase, stocked } from './fixtures.ts'

/** One GTIN in the two lengths that buyers send it in. */
const [short, long] = ['9520728834110', '09520728834110']

const sendsOne = (product: ProductReference, orderNumber?: string) =>
  placing('', 1, {
    order: purchase([{ ...item(''), product }], orderNumber === undefined ? {} : { orderNumber }),
    customer: 'ACME'
  })

async function ordered(store: Store, gtin: string): Promise<readonly (string | undefined)[]> {
  const { order } = await store.placeOrder(sendsOne({ gtin }))
  return [order.items[0]?.productId, order.items[0]?.gtin]
}

export function gtinContract(rule: Rule): void {
  rule('two products never have one GTIN in two lengths, and a product can change its length', async (t, store) => {
    const taken = { code: 'gtin-taken', message: `The product first already has the GTIN ${long}. Correct the GTIN here or there.` }
    await store.createProduct('first', stocked(10, { gtin: short }))
    await t.rejects(store.createProduct('second', stocked(10, { gtin: long })), taken)
    await t.rejects(store.putProduct('second', stocked(10, { gtin: long }), {}), taken)
    t.match(await store.importProducts([{ id: 'second', draft: stocked(10, { gtin: long }) }]), [{ code: 'gtin-taken' }])
    t.match(await store.putProduct('first', stocked(10, { gtin: long }), {}), { product: { gtin: long } })
    await store.deleteProduct('first', {})
    await store.createProduct('second', stocked(10, { gtin: short }))
  })

  rule('a GTIN goes from one product to another within one import, in another length', async (t, store) => {
    await store.createProduct('first', stocked(10, { gtin: short }))
    const outcomes = await store.importProducts([
      { id: 'second', draft: stocked(10, { gtin: long }) },
      { id: 'first', draft: stocked(10) },
      { id: 'second', draft: stocked(10, { gtin: long }) },
      { id: 'third', draft: stocked(10, { gtin: short }) }
    ])
    t.match(outcomes, [{ code: 'gtin-taken' }, 'replaced', 'created', { code: 'gtin-taken', message: /second/ }])
  })

  rule('a product is found by each length of its GTIN, and an order keeps what the buyer sent', async (t, store) => {
    await store.createProduct('a', stocked(10, { gtin: long }))
    await store.createProduct('b', stocked(10, { gtin: '96385074' }))
    t.equal((await store.product('a')).gtin, long, 'as it was sent')
    for (const gtin of [short, long]) {
      t.same(await ordered(store, gtin), ['a', gtin])
      t.match(await store.productsCoded([gtin]), [{ id: 'a', gtin: long }])
    }
    for (const gtin of ['96385074', '000096385074', '0000096385074', '00000096385074']) t.same(await ordered(store, gtin), ['b', gtin])
    t.same(await store.productsCoded(['34110', '0', '063850', '']), [], 'what is no GTIN is not completed to one')
  })

  rule('a repeated order may name its product by another length of the GTIN', async (t, store) => {
    await store.createProduct('a', stocked(10, { gtin: long }))
    const { order } = await store.placeOrder(sendsOne({ gtin: short }, 'PO-1'))
    await store.putProduct('a', stocked(10), {})
    for (const gtin of [short, long]) {
      t.match(await store.placeOrder(sendsOne({ gtin }, 'PO-1')), { outcome: 'repeated', order: { id: order.id } }, gtin)
    }
    await t.rejects(store.placeOrder(sendsOne({ gtin: '96385074' }, 'PO-1')), { code: 'order-number-taken' })
  })

  rule('of fifty creations with one GTIN in two lengths, one succeeds', async (t, store) => {
    const creations = Array.from({ length: 50 }, (_, i) => store.createProduct(`p${i}`, stocked(1, { gtin: i % 2 ? short : long })))
    const results = await Promise.allSettled(creations)
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    t.same(refusals, Array(49).fill('gtin-taken'))
  })
}
