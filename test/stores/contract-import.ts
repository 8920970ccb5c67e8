import { decimal } from '../../domain/money.ts'
import type { StockedProduct, Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, everything, placing, stocked } from './fixtures.ts'

const full = stocked('2.5', {
  description: 'Of steel — 300 g\n',
  price: decimal('10.10'),
  currency: 'EUR',
  minimumQuantity: decimal('5'),
  quantityStep: decimal('2.50'),
  gtin: '4006381333931',
  categories: ['tools', 'tools/hand, "arm"'],
  images: ['https://example.org/h.jpg'],
  backorder: true
})

async function all(store: Store): Promise<StockedProduct[]> {
  const found: StockedProduct[] = []
  for await (const batch of store.allProducts()) found.push(...batch)
  return found
}

const many = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `p${String(i).padStart(5, '0')}`, draft: stocked(i) }))

export function importContract(rule: Rule): void {
  rule('an import creates products, with their stock, to the letter', async (t, store) => {
    t.same(await store.importProducts([]), [])
    t.same(
      await store.importProducts([
        { id: 'b', draft: draft() },
        { id: 'a', draft: full }
      ]),
      ['created', 'created']
    )
    const { onHand, ...fields } = full
    const a = await store.product('a')
    t.match(a, { ...fields, id: 'a', version: 1, availability: 'in-stock' })
    t.equal((await store.stock('a')).onHand, onHand)
    t.match(await store.product('b'), { availability: 'out-of-stock' })
    t.same(
      (await store.products({ limit: 10, q: 'steel', category: 'tools' })).items.map(({ id }) => id),
      ['a'],
      'they are found by text and category'
    )
  })

  rule('an import leaves an equal product unchanged: its version, its time and the revision stay', async (t, store) => {
    await store.importProducts([{ id: 'a', draft: full }])
    const before = [await store.product('a'), await store.stock('a'), await store.revision()]
    const { onHand: _onHand, currency: _currency, ...less } = full
    const same = [full, less, { ...less, currency: 'EUR' }, { ...less, onHand: decimal('2.500') }]
    t.same(
      await store.importProducts(same.map((draft) => ({ id: 'a', draft }))),
      same.map(() => 'unchanged')
    )
    t.same([await store.product('a'), await store.stock('a'), await store.revision()], before)
  })

  rule('an import replaces a product as soon as a letter of it differs', async (t, store) => {
    const others = [
      { name: 'Hammer ' },
      { description: '' },
      { price: decimal('10.1') },
      { unit: 'KGM' },
      { minimumQuantity: decimal('6') },
      { quantityStep: decimal('2.5') },
      { gtin: '96385074' },
      { categories: ['tools'] },
      { categories: [...full.categories].reverse() },
      { images: [] },
      { backorder: false }
    ]
    let version = (await store.createProduct('a', full)).version
    for (const other of others) {
      const { revision } = await store.revision()
      t.same(await store.importProducts([{ id: 'a', draft: { ...full, ...other } }]), ['replaced'], JSON.stringify(other))
      const product = await store.product('a')
      t.same({ ...product, ...other }, product, JSON.stringify(other))
      t.ok(product.version > version && (await store.revision()).revision > revision)
      await store.putProduct('a', full, {})
      version = (await store.product('a')).version
    }
    const { description: _description, gtin: _gtin, ...less } = full
    t.same(await store.importProducts([{ id: 'a', draft: less }]), ['replaced'])
    const product = await store.product('a')
    t.notOk('description' in product || 'gtin' in product, 'what the item leaves out is gone')
  })

  rule(
    'an import of which only the stock differs sets the stock, and the product changes only if its availability does',
    async (t, store) => {
      await store.createProduct('a', stocked(5))
      const before = await store.product('a')
      t.same(await store.importProducts([{ id: 'a', draft: stocked(7) }]), ['replaced'])
      t.same(await store.product('a'), before)
      t.match(await store.stock('a'), { onHand: '7', version: 2 })
      t.same(await store.importProducts([{ id: 'a', draft: stocked(0) }]), ['replaced'])
      t.match(await store.product('a'), { availability: 'out-of-stock' })
      t.ok((await store.product('a')).version > before.version)
      t.same(await store.importProducts([{ id: 'a', draft: draft() }]), ['unchanged'], 'stock that is not named stays')
    }
  )

  rule('an item that is refused changes nothing and stops no other', async (t, store) => {
    await store.createProduct('first', full)
    const outcomes = await store.importProducts([
      { id: 'a', draft: draft() },
      { id: 'b', draft: { ...full, name: 'Same GTIN' } },
      { id: 'c', draft: draft({ currency: 'USD' }) },
      { id: 'first', draft: { ...full, currency: 'USD' } },
      { id: 'd', draft: draft() }
    ])
    const wrongCurrency = { code: 'invalid-product', message: /EUR.*USD/, faults: [{ code: 'wrong-currency', at: ['price'] }] }
    t.match(outcomes, [
      'created',
      { code: 'gtin-taken', message: /\bfirst\b/, faults: [{ at: ['gtin'] }] },
      wrongCurrency,
      wrongCurrency,
      'created'
    ])
    t.same(
      outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : outcome.faults.length)),
      ['created', 1, 1, 1, 'created']
    )
    t.same(
      (await store.products({ limit: 10 })).items.map(({ id, version }) => [id, version]),
      ['a', 'd', 'first'].map((id) => [id, 1])
    )
  })

  rule('the items of a batch are taken in their order', async (t, store) => {
    await store.createProduct('old', full)
    const { gtin: _gtin, ...freed } = full
    const batch = [
      { id: 'a', draft: draft({ name: 'One' }) },
      { id: 'a', draft: draft({ name: 'Two' }) },
      { id: 'a', draft: draft({ name: 'Two' }) },
      { id: 'new', draft: full },
      { id: 'old', draft: freed },
      { id: 'new', draft: full }
    ]
    t.match(await store.importProducts(batch), ['created', 'replaced', 'unchanged', { code: 'gtin-taken' }, 'replaced', 'created'])
    t.equal((await store.product('a')).name, 'Two')
    t.same((await store.products({ limit: 10, q: 'One' })).items, [])
  })

  rule('an import brings a deleted product back', async (t, store) => {
    const { version } = await store.createProduct('a', full)
    await store.deleteProduct('a', {})
    t.same(await store.importProducts([{ id: 'a', draft: draft() }]), ['created'])
    t.ok((await store.product('a')).version > version)
    t.equal((await store.stock('a')).onHand, '0')
  })

  rule('a dry run of an import says what would be, and nothing of it stays', async (t, store) => {
    await store.createProduct('a', stocked(5))
    const before = [await store.product('a'), await store.stock('a'), await store.revision()]
    const batch = [
      { id: 'a', draft: draft({ name: 'Other' }) },
      { id: 'b', draft: full },
      { id: 'c', draft: full },
      { id: 'b', draft: full }
    ]
    const outcomes = ['replaced', 'created', { code: 'gtin-taken' }, 'unchanged']
    t.match(await store.importProducts(batch, 'dry-run'), outcomes)
    t.same([await store.product('a'), await store.stock('a'), await store.revision()], before)
    await t.rejects(store.product('b'), { code: 'product-not-found' })
    t.same((await store.products({ limit: 10, q: 'Other' })).items, [])
    t.match(await store.importProducts(batch), outcomes)
  })

  rule('imports and orders at the same time lose nothing of either', async (t, store) => {
    await store.createProduct('a', stocked(1000))
    const imported = many(600)
    const [outcomes] = await Promise.all([
      Promise.all([imported.slice(0, 300), imported.slice(300)].map((batch) => store.importProducts(batch))),
      ...Array.from({ length: 50 }, () => store.placeOrder(placing('a')))
    ])
    t.same(new Set(outcomes.flat()), new Set(['created']))
    t.equal((await everything((after) => store.products({ limit: 500, ...after }))).length, 601)
    t.equal((await store.stock('a')).onHand, '950')
  })

  rule('all products come once, by the bytes of their ids, with their stock; deleted ones do not', async (t, store) => {
    t.same(await all(store), [])
    for (const id of ['b', 'B', '~', '1', 'a']) await store.createProduct(id, stocked('2.5'))
    await store.deleteProduct('b', {})
    await store.createProduct('back', stocked('0', { backorder: true }))
    await store.placeOrder(placing('back', 3))
    t.same(
      (await all(store)).map(({ id, onHand }) => [id, onHand]),
      [
        ['1', '2.5'],
        ['B', '2.5'],
        ['a', '2.5'],
        ['back', '-3'],
        ['~', '2.5']
      ]
    )
    const [{ onHand: _onHand, ...product } = { onHand: '' }] = await all(store)
    t.same(product, await store.product('1'))
  })

  rule('more products than a batch holds come whole, while others are written and deleted', async (t, store) => {
    const items = many(1500)
    await store.importProducts(items)
    const seen: string[] = []
    for await (const batch of store.allProducts()) {
      t.ok(batch.length > 0 && batch.length < 1500, 'in batches')
      if (seen.length === 0) {
        // Deletes and creates products both before and after the position of the reader.
        await store.deleteProduct('p00000', {})
        await store.deleteProduct('p01400', {})
        await store.createProduct('a', draft())
        await store.createProduct('q', draft())
      }
      seen.push(...batch.map(({ id }) => id))
    }
    t.same(seen, [...items.map(({ id }) => id).filter((id) => id !== 'p01400'), 'q'])
  })

  rule('to stop reading all products early is nothing special', async (t, store) => {
    await store.importProducts(many(1500))
    for await (const batch of store.allProducts()) {
      t.ok(batch.length > 0)
      break
    }
    await store.createProduct('after', draft())
    t.equal((await all(store)).length, 1501)
  })
}
