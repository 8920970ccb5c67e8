import { PositionError } from '../../domain/errors.ts'
import { mostWeight } from '../../domain/product-list.ts'
import type { Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { draft, everything, found, fullPurchase, item, placing, purchase, stocked, untilLater } from './fixtures.ts'

const name = (i: number) => `p${String(i).padStart(2, '0')}`

async function fill(store: Store, count: number, more = {}): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => store.createProduct(name(i), draft(more))))
}

export function pagingContract(rule: Rule): void {
  rule('products are listed by id, in the order of its bytes, each once', async (t, store) => {
    for (const id of ['b', 'B', 'a', '~', '1', '-', '_', 'a.', 'a1', 'A']) await store.createProduct(id, draft())
    const all = await everything((after) => store.products({ limit: 3, ...after }))
    t.same(
      all.map(({ id }) => id),
      ['-', '1', 'A', 'B', '_', 'a', 'a.', 'a1', 'b', '~']
    )
  })

  rule('a page has no next when nothing follows, also when it is full', async (t, store) => {
    await fill(store, 4)
    const first = await store.products({ limit: 2 })
    t.ok(first.next)
    const second = await store.products({ limit: 2, after: first.next ?? '' })
    t.equal(second.items.length, 2)
    t.notOk('next' in second)
    t.notOk('next' in (await store.products({ limit: 4 })))
    t.same(await store.products({ limit: 5, category: 'none' }), { items: [] })
  })

  for (const query of [
    {},
    { q: 'hammer' },
    { category: 'tools' },
    { updatedSince: 1 },
    { q: 'hammer', category: 'tools', updatedSince: 1 }
  ]) {
    rule(`products that come and go between pages shift nothing: ${JSON.stringify(query)}`, async (t, store) => {
      await fill(store, 20, { categories: ['tools'] })
      const first = await store.products({ ...query, limit: 10 })
      const last = first.items.at(-1)?.id ?? ''
      const rest = new Set(Array.from({ length: 20 }, (_, i) => name(i)))
      for (const { id } of first.items) rest.delete(id)
      await store.deleteProduct(first.items[0]?.id ?? '', {})
      await store.deleteProduct(last, {})
      const [going] = rest
      await store.deleteProduct(going ?? '', {})
      rest.delete(going ?? '')
      await store.createProduct('a-before', draft({ categories: ['tools'] }))
      const after = await everything((more) => store.products({ ...query, limit: 3, after: first.next ?? '', ...more }))
      t.same(
        after
          .map(({ id }) => id)
          .filter((id) => id !== 'a-before')
          .sort(),
        [...rest].sort()
      )
    })
  }

  for (const query of [
    {},
    { q: 'hammer' },
    { category: 'tools' },
    { updatedSince: 1 },
    { category: 'tools', updatedSince: 1 },
    { q: 'hammer', category: 'tools', updatedSince: 1 }
  ]) {
    rule(`a page ends early when its products are large, and has at least one: ${JSON.stringify(query)}`, async (t, store) => {
      const categories = ['tools']
      const images = Array.from({ length: 100 }, (_, i) => `/${i}`.padEnd(1_600, 'x'))
      const huge = 'x'.repeat(2 * mostWeight.page)
      const many = Array.from({ length: 99 }, (_, i) => `/${i}`)
      // Three of the large ones fit on a page.
      const drafts = [
        ...Array.from({ length: 2 }, () => draft({ categories })),
        ...Array.from({ length: 7 }, () => draft({ categories, images })),
        ...Array.from({ length: 30 }, () => draft({ categories })),
        draft({ categories, description: huge }),
        draft({ categories, description: huge }),
        ...Array.from({ length: 200 }, () => draft({ categories, images: many }))
      ]
      const items = drafts.map((draft, i) => ({ id: `p${String(i).padStart(3, '0')}`, draft }))
      await store.importProducts(items)
      const lengths: number[] = []
      const all = await everything(async (after) => {
        const page = await store.products({ limit: 1_000, ...query, ...after })
        lengths.push(page.items.length)
        return page
      })
      t.same(
        all.map(({ id }) => id),
        items.map(({ id }) => id)
      )
      t.same(lengths.slice(0, 5), [5, 3, 31, 1, 1])
      t.ok(lengths.length > 6, 'many short texts are large, too')
      t.same(all[2], await store.product('p002'))
      t.same(all.at(-1), await store.product(all.at(-1)?.id ?? ''))
    })
  }

  rule('a category is matched whole and by case, through changes of the product', async (t, store) => {
    await store.createProduct('a', draft({ categories: ['tools', 'tools'] }))
    await store.createProduct('b', draft({ categories: ['tools/hand', 'Zangen & "mehr"'] }))
    t.same(await found(store, { category: 'tools' }), ['a'])
    t.same(await found(store, { category: 'Tools' }), [])
    t.same(await found(store, { category: 'Zangen & "mehr"' }), ['b'])
    await store.putProduct('a', draft({ categories: ['garden'] }), {})
    t.same(await found(store, { category: 'tools' }), [])
    t.same(await found(store, { category: 'garden' }), ['a'])
  })

  rule('the main categories are those that a product has first, each once, through changes of the products', async (t, store) => {
    t.same(await store.mainCategories(10), [])
    await store.createProduct('none', draft())
    t.same(await store.mainCategories(10), [])
    await store.createProduct('a', draft({ categories: ['tools', 'hand'] }))
    await store.createProduct('b', draft({ categories: ['tools', 'power'] }))
    await store.createProduct('c', draft({ categories: ['Ärmel', 'tools'] }))
    await store.createProduct('d', draft({ categories: ['"a" \\ b'] }))
    await store.createProduct('e', draft({ categories: ['zinc'] }))
    t.same(await store.mainCategories(10), ['"a" \\ b', 'tools', 'zinc', 'Ärmel'])
    t.same(await store.mainCategories(2), ['"a" \\ b', 'tools'])
    await store.putProduct('d', draft({ categories: ['tools'] }), {})
    await store.putProduct('a', draft({ categories: ['hand', 'tools'] }), {})
    await store.deleteProduct('e', {})
    t.same(await store.mainCategories(10), ['hand', 'tools', 'Ärmel'])
  })

  rule('updatedSince gives what changed at that time or later', async (t, store) => {
    await store.createProduct('a', draft({ categories: ['x'] }))
    await store.createProduct('b', draft())
    const { modifiedAt } = await store.product('b')
    await untilLater()
    await store.putProduct('a', draft({ categories: ['x'] }), {})
    t.same(await found(store, { updatedSince: modifiedAt + 1 }), ['a'])
    t.same(await found(store, { updatedSince: modifiedAt }), ['a', 'b'])
    t.same(await found(store, { updatedSince: modifiedAt, category: 'x' }), ['a'])
    t.same(await found(store, { updatedSince: modifiedAt + 1, q: 'hammer' }), ['a'])
    t.same(await found(store, { updatedSince: modifiedAt + 1e9 }), [])
  })

  rule('orders are listed newest first; what is placed between pages shifts nothing', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const placed: string[] = []
    for (let i = 0; i < 7; i++) placed.unshift((await store.placeOrder(placing('a'))).order.id)
    const first = await store.orders({ limit: 3 })
    await store.placeOrder(placing('a'))
    const rest = await everything((after) => store.orders({ limit: 3, after: first.next ?? '', ...after }))
    t.same(
      [...first.items, ...rest].map(({ id }) => id),
      placed
    )
  })

  rule('a list of orders has a summary of each, as it is now, and is not cut by their size', async (t, store) => {
    await store.createProduct('a', stocked(100_000))
    const long = purchase(
      Array.from({ length: 3_000 }, () => item('a', 2)),
      { notes: ['é'.repeat(2_000_000)] }
    )
    for (let i = 0; i < 4; i++) await store.placeOrder({ order: long, status: 'accepted' })
    const owned = { order: fullPurchase([item('a'), item('a', '3')]), status: 'accepted', customer: 'acme' } as const
    const { order } = await store.placeOrder(owned)
    const { items } = await store.orders({ limit: 5, lines: true })
    t.equal(items.length, 5)
    const { id, version, placedAt, modifiedAt } = order
    const lines = order.items.map(({ productId, name, quantity, unit }) => ({ productId, name, quantity, unit }))
    const named = { customer: 'acme', orderNumber: 'PO-1', buyerName: owned.order.buyer?.name }
    const worth = { status: 'accepted', currency: order.currency, total: order.total } as const
    t.same(items[0], { id, version, placedAt, modifiedAt, ...named, ...worth, itemCount: 2, lines })
    t.match(items[1], { itemCount: 3_000, total: '59940.00' })
    t.notOk(items[1] && ('lines' in items[1] || 'orderNumber' in items[1]), 'what the lines of a large one are of is not said')
    await store.changeOrder(id, purchase([item('a', 7)]), {})
    const [changed] = (await store.orders({ limit: 1 })).items
    t.match(changed, { version: 2, itemCount: 1, total: '69.93', customer: 'acme' })
    t.notOk(changed && ('lines' in changed || 'orderNumber' in changed || 'buyerName' in changed))
    await store.setOrderStatus(id, 'cancelled', {})
    t.match((await store.orders({ limit: 1 })).items, [{ version: 3, status: 'cancelled', itemCount: 1, total: '69.93' }])
  })

  rule('orders are filtered by customer and by status, as it is now', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const ids: string[] = []
    for (const customer of ['acme', 'other', 'acme']) ids.push((await store.placeOrder(placing('a', 1, { customer }))).order.id)
    ids.push((await store.placeOrder(placing('a', 1, { status: 'received' }))).order.id)
    const [first, second, third, guest] = ids
    await store.setOrderStatus(first ?? '', 'shipped', {})
    const list = async (query: Omit<Parameters<Store['orders']>[0], 'limit'>) =>
      (await everything((after) => store.orders({ limit: 1, ...query, ...after }))).map(({ id }) => id)
    t.same(await list({ customer: 'acme' }), [third, first])
    t.same(await list({ status: 'accepted' }), [third, second])
    t.same(await list({ customer: 'acme', status: 'shipped' }), [first])
    t.same(await list({ status: 'received' }), [guest])
    t.same(await list({ customer: 'none' }), [])
    t.same(await list({}), [guest, third, second, first])
  })

  rule('a position that no page gave is a PositionError', async (t, store) => {
    await t.rejects(store.orders({ limit: 1, after: 'x' }), PositionError)
    await t.rejects(store.products({ limit: 1, q: 'hammer', after: "1' OR" }), PositionError)
    await store.createProduct('a', stocked(100))
    const { id } = (await store.placeOrder(placing('a', 1, { customer: 'acme' }))).order
    for (const after of ['1', '0', id.toUpperCase(), `${id} `, '00000000-0000-4000-8000-000000000000', '\0']) {
      await t.rejects(store.orders({ limit: 1, after }), PositionError, JSON.stringify(after))
    }
  })

  rule("an order's position in the list tells nothing but its id, and is one only where the order is listed", async (t, store) => {
    await store.createProduct('a', stocked(100))
    const ids: string[] = []
    for (const customer of ['acme', 'other', 'acme', 'acme']) ids.push((await store.placeOrder(placing('a', 1, { customer }))).order.id)
    const [first = '', others = '', second = '', third = ''] = ids
    const page = await store.orders({ limit: 2, customer: 'acme' })
    t.same([page.items.map(({ id }) => id), page.next], [[third, second], second])
    const there = async (after: string, customer?: string) =>
      (await store.orders({ limit: 5, after, ...(customer === undefined ? {} : { customer }) })).items.map(({ id }) => id)
    t.same(await there(third, 'acme'), [second, first])
    t.same(await there(second), [others, first])
    await t.rejects(there(others, 'acme'), PositionError, "another customer's order is as one that is not there")
    await store.setOrderStatus(second, 'cancelled', {})
    const accepted = await store.orders({ limit: 5, after: second, status: 'accepted', customer: 'acme' })
    t.same(
      accepted.items.map(({ id }) => id),
      [first],
      'a position stays one when its order leaves the list by its status'
    )
  })
}
