import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { decimal } from '../../domain/money.ts'
import {
  type Catalogue,
  type CatalogueChange,
  type CatalogueEntry,
  decideProduct,
  importOutcome,
  type ProductWrite,
  withTimes
} from '../../domain/product-writes.ts'
import { draft, shopCurrency, stocked } from '../stores/fixtures.ts'

const catalogue: Catalogue = {
  currency: shopCurrency,
  otherHolder: (gtin, id) => (gtin === '96385074' && id !== 'holder' ? 'holder' : undefined)
}

function decide(write: { readonly verb: ProductWrite['verb']; readonly [more: string]: unknown }, entry?: CatalogueEntry): CatalogueChange {
  const whole: object = { id: 'a', draft: draft(), expected: {}, onHand: decimal('1'), ...write }
  return decideProduct(whole as ProductWrite, entry, catalogue)
}

const full = stocked('2.5', { description: 'Steel', gtin: '4006381333931', categories: ['tools'], images: ['/a.jpg'] })
const active = withTimes(decide({ verb: 'create', draft: full }), 100, 101)
const deleted = withTimes(decide({ verb: 'delete' }, active), 200, 201)

t.test('a product that is created has version 1 and what its draft has', async (t) => {
  const { onHand, ...content } = full
  t.same(active.product, { ...content, id: 'a', version: 1, currency: 'EUR', availability: 'in-stock', modifiedAt: 100 })
  t.same(active.stock, { productId: 'a', version: 1, onHand, modifiedAt: 101 })
  t.match(active, { created: true, deleted: false, changed: { product: true, stock: true } })
  t.match(decide({ verb: 'create' }), { product: { availability: 'out-of-stock' }, stock: { onHand: '0', version: 1 } })
})

t.test('a product that is there cannot be created, and a deleted one can: its versions go on', async (t) => {
  t.throws(() => decide({ verb: 'create' }, active), {
    code: 'product-exists',
    message: 'There is a product a already. Choose another id, or replace that product with PUT.',
    productId: 'a',
    faults: [{ at: [] }]
  })
  const again = decide({ verb: 'create' }, deleted)
  t.match(again, { created: true, deleted: false, product: { version: 3 }, stock: { version: 2, onHand: '0' } })
})

t.test('a product that is put is created or replaced, whatever it has; its stock stays where the draft has none', async (t) => {
  t.equal(decide({ verb: 'put' }).created, true)
  t.equal(decide({ verb: 'put' }, deleted).created, true)
  const { onHand: _, ...same } = full
  t.match(decide({ verb: 'put', draft: same }, active), {
    created: false,
    changed: { product: true, stock: false },
    product: { version: 2, availability: 'in-stock' },
    stock: { version: 1, onHand: '2.5' }
  })
  const counted = decide({ verb: 'put', draft: stocked('0.000', { backorder: true }) }, active)
  t.match(counted, { changed: { stock: true }, product: { availability: 'backorder' }, stock: { version: 2, onHand: '0' } })
  t.notOk('description' in counted.product || 'gtin' in counted.product, 'what the draft leaves out is gone')
})

t.test('a deleted product keeps its stock and gives up its texts and its GTIN', async (t) => {
  t.match(deleted, { deleted: true, created: false, changed: { product: true, stock: false }, product: { version: 2, modifiedAt: 200 } })
  t.same(deleted.stock, active.stock)
  const { description, gtin, ...rest } = active.product
  t.same(deleted.product, { ...rest, version: 2, categories: [], images: [], modifiedAt: 200 })
})

t.test('stock that is set has a new version; the product has one only when its availability changes', async (t) => {
  const more = decide({ verb: 'setStock', onHand: decimal('7.000') }, active)
  t.match(more, { changed: { product: false, stock: true }, stock: { version: 2, onHand: '7' } })
  t.same(more.product, active.product)
  const none = decide({ verb: 'setStock', onHand: decimal('0') }, active)
  t.match(none, { changed: { product: true, stock: true }, product: { version: 2, availability: 'out-of-stock' } })
  t.match(decide({ verb: 'setStock', onHand: decimal('2.5') }, active), { changed: { stock: true } }, 'also when it is the same')
})

t.test('only an active product is deleted or counted', async (t) => {
  for (const verb of ['delete', 'setStock'] as const) {
    t.throws(() => decide({ verb }), { code: 'product-not-found', message: 'There is no product a.' })
    t.throws(() => decide({ verb }, deleted), { code: 'product-deleted', message: 'The product a is no longer sold.' })
  }
})

t.test('a precondition is on the version of what is written: the product, or its stock', async (t) => {
  const counted = withTimes(decide({ verb: 'setStock' }, active), 0, 300)
  t.doesNotThrow(() => decide({ verb: 'put', expected: { version: 1 } }, counted))
  t.doesNotThrow(() => decide({ verb: 'delete', expected: { version: 1 } }, counted))
  t.doesNotThrow(() => decide({ verb: 'setStock', expected: { version: 2 } }, counted))
  for (const verb of ['put', 'delete', 'setStock'] as const)
    t.throws(() => decide({ verb, expected: { version: 9 } }, counted), { code: 'precondition-failed' })
  t.throws(() => decide({ verb: 'put', expected: { exists: true } }, deleted), { code: 'precondition-failed' })
  t.doesNotThrow(() => decide({ verb: 'put', expected: { exists: false } }, deleted), 'a deleted product is not there')
})

t.test('another currency and a GTIN of another product are refused', async (t) => {
  for (const verb of ['create', 'put', 'import'] as const) {
    t.throws(() => decide({ verb, draft: draft({ currency: 'USD' }) }), {
      code: 'invalid-product',
      message: 'This shop sells in EUR, not in USD.',
      faults: [{ code: 'wrong-currency', at: ['price'] }]
    })
    const message = 'The product holder already has the GTIN 96385074. Correct the GTIN here or there.'
    const taken = { code: 'gtin-taken', message, faults: [{ detail: message, at: ['gtin'] }] }
    t.throws(() => decide({ verb, draft: draft({ gtin: '96385074' }) }), taken)
    t.doesNotThrow(() => decide({ verb, id: 'holder', draft: draft({ gtin: '96385074', currency: 'EUR' }) }))
  }
})

t.test('an import writes only what differs: nothing, the stock, or the product', async (t) => {
  const imported = (draft: typeof full, entry?: CatalogueEntry) => decide({ verb: 'import', draft }, entry)
  const { onHand: _, ...same } = full
  for (const draft of [full, same, { ...same, currency: 'EUR' }, { ...full, onHand: decimal('2.500') }]) {
    const { product, stock, changed } = imported(draft, active)
    t.same([product, stock, changed], [active.product, active.stock, { product: false, stock: false }])
  }
  t.match(imported({ ...full, onHand: decimal('3') }, active), { changed: { product: false, stock: true }, stock: { version: 2 } })
  t.match(imported({ ...full, price: decimal('9.990') }, active), { changed: { product: true }, product: { version: 2 } })
  t.match(imported(full, deleted), { created: true })
})

t.test('a product has the time of the revision, and stock that of the clock; no time goes back', async (t) => {
  const change = decide({ verb: 'put', draft: stocked(1) }, active)
  t.match(withTimes(change, 50, 60), { product: { modifiedAt: 50 }, stock: { modifiedAt: 101 } })
  t.match(withTimes(change, 500, 600), { product: { modifiedAt: 500 }, stock: { modifiedAt: 600 } })
  const count = decide({ verb: 'setStock', onHand: decimal('9') }, active)
  t.match(withTimes(count, 500, 600), { product: { modifiedAt: 100 }, stock: { modifiedAt: 600 } })
})

t.test('the outcome of an imported item', async (t) => {
  t.equal(
    importOutcome(() => active),
    'created'
  )
  for (const [product, stock, outcome] of [
    [true, false, 'replaced'],
    [false, true, 'replaced'],
    [false, false, 'unchanged']
  ] as const)
    t.equal(
      importOutcome(() => ({ ...active, created: false, changed: { product, stock } })),
      outcome
    )
  const refusal = importOutcome(() => {
    throw new DomainError('gtin-taken', 'taken')
  })
  t.same(refusal, { code: 'gtin-taken', message: 'taken', faults: [] })
  t.throws(
    () =>
      importOutcome(() => {
        throw new RangeError('broken')
      }),
    /broken/
  )
})
