import { decimal } from '../../domain/money.ts'
import { mostWeight } from '../../domain/product-list.ts'
import type { StockedProduct } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, stocked } from './fixtures.ts'

const full = stocked('2.5', {
  description: 'Of steel, 300 g — für Nägel',
  price: decimal('10.10'),
  currency: 'EUR',
  minimumQuantity: decimal('5'),
  quantityStep: decimal('2.50'),
  gtin: '4006381333931',
  categories: ['tools', 'tools/hand & arm'],
  images: ['https://example.org/h.jpg']
})

export function catalogueContract(rule: Rule): void {
  rule('a new store is empty, and has a revision', async (t, store) => {
    t.equal(await store.isEmpty(), true)
    t.same((await store.products({ limit: 10 })).items, [])
    t.type((await store.revision()).revision, 'number')
    await store.ping()
  })

  rule('a product is read as it was created, decimals and texts to the letter', async (t, store) => {
    const before = Date.now()
    const created = await store.createProduct('ABC-1', full)
    const { onHand: _onHand, ...fields } = full
    const { modifiedAt, ...rest } = created
    t.same(rest, { ...fields, id: 'ABC-1', version: 1, availability: 'in-stock' })
    t.ok(modifiedAt >= before - 1000 && modifiedAt <= Date.now() + 1000)
    t.same(await store.product('ABC-1'), created)
    t.same((await store.products({ limit: 10 })).items, [created])
    t.equal(await store.isEmpty(), false)
  })

  rule('a property that a draft leaves out is absent, not empty', async (t, store) => {
    await store.createProduct('a', draft())
    const product = await store.product('a')
    t.notOk('description' in product || 'gtin' in product)
    t.match(product, { availability: 'out-of-stock', currency: 'EUR' })
    t.same([product.categories, product.images], [[], []])
  })

  rule('a product cannot be created twice', async (t, store) => {
    const product = await store.createProduct('a', draft())
    await t.rejects(store.createProduct('a', draft({ name: 'Other' })), { code: 'product-exists' })
    t.same(await store.product('a'), product)
  })

  rule('a product that never was is not found', async (t, store) => {
    await t.rejects(store.product('a'), { code: 'product-not-found' })
    await t.rejects(store.deleteProduct('a', {}), { code: 'product-not-found' })
    await t.rejects(store.deleteProduct('a', { version: 1 }), { code: 'product-not-found' })
  })

  rule('ids that differ in case are different products', async (t, store) => {
    await store.createProduct('abc', draft({ name: 'small' }))
    await store.createProduct('ABC', draft({ name: 'capital' }))
    t.equal((await store.product('abc')).name, 'small')
  })

  rule('a put creates, then replaces whole, and raises the version even when nothing differs', async (t, store) => {
    t.match(await store.putProduct('a', full, {}), { created: true, product: { version: 1 } })
    t.match(await store.putProduct('a', full, {}), { created: false, product: { version: 2 } })
    await store.putProduct('a', draft(), {})
    const product = await store.product('a')
    t.equal(product.version, 3)
    t.notOk('description' in product || 'gtin' in product)
    t.same(product.categories, [])
  })

  rule('a deleted product is gone, and a second delete says so', async (t, store) => {
    await store.createProduct('a', full)
    await store.deleteProduct('a', {})
    await t.rejects(store.product('a'), { code: 'product-deleted' })
    await t.rejects(store.stock('a'), { code: 'product-deleted' })
    await t.rejects(store.deleteProduct('a', { version: 1 }), { code: 'product-deleted' })
    t.same((await store.products({ limit: 10 })).items, [])
    t.same((await store.products({ limit: 10, category: 'tools' })).items, [])
    t.same((await store.products({ limit: 10, q: 'steel' })).items, [])
    t.same((await store.products({ limit: 10, updatedSince: 0 })).items, [])
    t.equal(await store.isEmpty(), false, 'a deleted product was there')
  })

  rule('a deleted product comes back at its URI with a version that goes on, and nothing of what it was', async (t, store) => {
    await store.createProduct('a', full)
    await store.deleteProduct('a', {})
    const again = await store.createProduct('a', draft({ name: 'New' }))
    t.ok(again.version > 1)
    t.match(again, { name: 'New', availability: 'out-of-stock' })
    t.same([again.categories, again.images], [[], []])
    t.notOk('description' in again || 'gtin' in again)
    t.equal((await store.stock('a')).onHand, '0')
    await store.deleteProduct('a', {})
    const put = await store.putProduct('a', full, { exists: false })
    t.ok(put.created && put.product.version > again.version)
  })

  rule('a replace or delete happens only at the version that it expects', async (t, store) => {
    await store.createProduct('a', draft())
    await store.putProduct('a', draft({ name: 'Second' }), { version: 1 })
    await t.rejects(store.putProduct('a', draft({ name: 'Lost' }), { version: 1 }), { code: 'precondition-failed' })
    await t.rejects(store.deleteProduct('a', { version: 1 }), { code: 'precondition-failed' })
    t.match(await store.product('a'), { name: 'Second', version: 2 })
    await store.deleteProduct('a', { version: 2 })
  })

  rule(
    'expecting a version, or something, where there is nothing fails; expecting nothing where there is something too',
    async (t, store) => {
      await t.rejects(store.putProduct('a', draft(), { version: 1 }), { code: 'precondition-failed' })
      await t.rejects(store.putProduct('a', draft(), { exists: true }), { code: 'precondition-failed' })
      await store.putProduct('a', draft(), { exists: false })
      await t.rejects(store.putProduct('a', draft(), { exists: false }), { code: 'precondition-failed' })
      await store.putProduct('a', draft(), { exists: true })
      await store.deleteProduct('a', { exists: true })
      await t.rejects(store.putProduct('a', draft(), { version: 3 }), { code: 'precondition-failed' }, 'a deleted product has no version')
      await t.rejects(store.putProduct('a', draft(), { exists: true }), { code: 'precondition-failed' })
    }
  )

  rule('two products never have one GTIN, and the refusal names the other', async (t, store) => {
    await store.createProduct('first', full)
    await t.rejects(store.createProduct('second', full), { code: 'gtin-taken', message: /\bfirst\b/ })
    await t.rejects(store.putProduct('second', full, {}), { code: 'gtin-taken' })
    await t.rejects(store.product('second'), { code: 'product-not-found' })
    await store.putProduct('first', full, {})
    await store.deleteProduct('first', {})
    await store.createProduct('second', full)
    await t.rejects(store.createProduct('first', full), { code: 'gtin-taken', message: /\bsecond\b/ })
  })

  rule('active products are found by codes: by id, or by GTIN, each once, with what the lines of a form show', async (t, store) => {
    const gtin = '9520714000376'
    await store.createProduct('full', full)
    await store.createProduct('plain', draft({ description: 'x'.repeat(4_000) }))
    await store.createProduct(gtin, draft({ name: 'Named like a GTIN' }))
    await store.createProduct('scanned', draft({ gtin }))
    await store.createProduct('gone', draft({ gtin: '40063813' }))
    await store.deleteProduct('gone', {})
    const { name, price, unit, minimumQuantity, quantityStep } = full
    const found = await store.productsCoded(['full', String(full.gtin), 'plain', 'PLAIN', gtin, 'gone', '40063813', 'x', '"', "'", ''])
    t.same(
      [...found].sort((a, b) => (a.id < b.id ? -1 : 1)),
      [
        { id: gtin, name: 'Named like a GTIN', price: '9.99', unit: 'C62', availability: 'out-of-stock' },
        { id: 'full', name, price, unit, minimumQuantity, quantityStep, gtin: full.gtin, availability: 'in-stock' },
        { id: 'plain', name: 'Hammer', price: '9.99', unit: 'C62', availability: 'out-of-stock' },
        { id: 'scanned', name: 'Hammer', price: '9.99', unit: 'C62', availability: 'out-of-stock', gtin }
      ]
    )
    t.same(await store.productsCoded([]), [])
  })

  rule('the first active products are listed by id, with their names', async (t, store) => {
    for (const id of ['b', 'B', 'a', 'c']) await store.createProduct(id, draft({ name: `Product ${id}` }))
    await store.deleteProduct('a', {})
    const names = ['B', 'b', 'c'].map((id) => ({ id, name: `Product ${id}` }))
    t.same(await store.productNames(10), names)
    t.same(await store.productNames(2), names.slice(0, 2))
  })

  rule('the batches of all products are small enough to be written at once, and each has at least one', async (t, store) => {
    const images = (count: number) => Array.from({ length: count }, (_, i) => `/${i}`.padEnd(1_600, 'x'))
    const drafts = [
      ...Array.from({ length: 5 }, (_, i) => stocked(i, { images: images(30) })),
      ...Array.from({ length: 3 }, (_, i) => stocked(i, { images: images(100) })),
      ...Array.from({ length: 80 }, (_, i) => stocked(i, { description: 'x'.repeat(4_000) }))
    ]
    const items = drafts.map((draft, i) => ({ id: `p${String(i).padStart(2, '0')}`, draft }))
    await store.importProducts(items)
    const all: StockedProduct[] = []
    const lengths: number[] = []
    for await (const batch of store.allProducts()) {
      const texts = batch.flatMap(({ description = '', images }) => [description, ...images]).join('')
      t.ok(batch.length === 1 || texts.length <= mostWeight.batch)
      lengths.push(batch.length)
      all.push(...batch)
    }
    t.same(lengths.slice(0, 6), [2, 2, 1, 1, 1, 1])
    t.same(
      all.map(({ id, onHand, images }) => ({ id, onHand, images })),
      items.map(({ id, draft: { onHand, images } }) => ({ id, onHand, images }))
    )
  })

  rule('a price in another currency is refused', async (t, store) => {
    const fault = { code: 'wrong-currency', at: ['price'] }
    await t.rejects(store.createProduct('a', draft({ currency: 'USD' })), { code: 'invalid-product', faults: [fault] })
    await t.rejects(store.putProduct('a', draft({ currency: 'USD' }), {}), { code: 'invalid-product', faults: [fault] })
    await t.rejects(store.product('a'), { code: 'product-not-found' })
  })

  rule('every change of a product raises the revision of the catalogue, and no refused one does', async (t, store) => {
    const revisions = [await store.revision()]
    const note = async () => revisions.push(await store.revision())
    await store.createProduct('a', full).then(note)
    await store.putProduct('a', draft(), {}).then(note)
    await store.deleteProduct('a', {}).then(note)
    await store.createProduct('a', draft()).then(note)
    for (const [i, { revision, modifiedAt }] of revisions.slice(1).entries()) {
      t.ok(revision > (revisions[i]?.revision ?? 0) && modifiedAt >= (revisions[i]?.modifiedAt ?? 0))
    }
    await t.rejects(store.createProduct('a', draft()))
    await t.rejects(store.putProduct('a', draft(), { version: 1 }))
    await t.rejects(store.deleteProduct('b', {}))
    t.same(await store.revision(), revisions.at(-1))
    t.equal((await store.product('a')).modifiedAt, revisions.at(-1)?.modifiedAt)
  })
}
