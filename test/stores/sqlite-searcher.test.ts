import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Connection, fileIdentity } from '../../stores/sqlite/connection.ts'
import { Searcher } from '../../stores/sqlite/searcher.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { draft, placing, shopCurrency, stocked } from './fixtures.ts'
import { claimOf, makeWebhook } from './webhook-fixtures.ts'

const folder = t.testdir({})
let files = 0
/** Characters of a description. */
const longestText = 4_000

async function open(t: Test) {
  const path = join(folder, `shop-${files++}.db`)
  const store = await openSqliteStore({ path, currency: shopCurrency })
  const searcher = new Searcher({ path, identity: fileIdentity(path), currency: shopCurrency })
  t.teardown(async () => {
    await searcher.close()
    await store.close()
  })
  return { store, searcher, path }
}

t.test('searches hold up nothing else, however long they take', async (t) => {
  const { store } = await open(t)
  await store.createProduct('a', stocked(0, { backorder: true }))
  let meanwhile = 0
  // Searches that end before two orders are on disk show nothing. The next ones take longer, because their products have more text.
  for (let length = 0; meanwhile < 2; length = Math.min(length + 200, longestText)) {
    const more = draft({ description: 'x'.repeat(length) })
    await store.importProducts(Array.from({ length: 2_000 }, (_, i) => ({ id: `p${i}`, draft: more })))
    let hasEnded = false
    const searches = Promise.all(Array.from({ length: 60 }, () => store.products({ limit: 1_000, q: 'hammer' }))).finally(
      () => (hasEnded = true)
    )
    while (!hasEnded) {
      await store.placeOrder(placing('a'))
      await store.product('a')
      if (!hasEnded) meanwhile++
    }
    t.ok((await searches).every(({ items }) => items.length === 1_000))
  }
  t.ok(meanwhile > 1, `${meanwhile} orders were placed meanwhile`)
})

t.test('neither the backlog of webhooks nor a renewed claim waits for a write', async (t) => {
  const { store, path } = await open(t)
  await makeWebhook(store)
  await store.createProduct('a', stocked(1))
  const [claimed] = await store.claimWebhooks('w', 1)
  const writing = new Connection(path)
  t.teardown(() => writing.close())
  writing.exec('BEGIN IMMEDIATE')
  t.match(await store.webhookBacklog(), { waiting: 1 })
  t.equal(await store.renewClaim('w', claimOf(claimed)), true)
  writing.exec('ROLLBACK')
})

t.test('the waiting searches are bounded, and the store answers them before it closes', async (t) => {
  const { store, searcher } = await open(t)
  await store.createProduct('a', draft())
  const settled = Promise.allSettled(Array.from({ length: 70 }, () => searcher.search({ limit: 1, q: 'hammer' })))
  const closed = searcher.close()
  const results = await settled
  await closed
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value.items.map(({ id }) => id) : []))
  t.same(found, Array(64).fill('a'))
  for (const result of results.slice(64)) t.match(result, { status: 'rejected', reason: { code: 'store-overloaded' } })
  await t.rejects(searcher.search({ limit: 1, q: 'hammer' }), { code: 'store-unavailable' })
})

t.test('a search whose thread dies fails with that reason, and the next search has another thread', async (t) => {
  const { store, searcher, path } = await open(t)
  await store.createProduct('a', draft())
  await store.close()
  const lock = new Connection(path)
  lock.exec('PRAGMA locking_mode = EXCLUSIVE')
  lock.exec('BEGIN EXCLUSIVE')
  const first = searcher.search({ limit: 1, q: 'hammer' })
  const killed = searcher.kill()
  lock.close()
  await t.rejects(first, { code: 'store-unavailable' })
  await killed
  t.same(
    (await searcher.search({ limit: 1, q: 'hammer' })).items.map(({ id }) => id),
    ['a']
  )
})

t.test('an invalid position is refused as it is without a thread', async (t) => {
  const { searcher } = await open(t)
  await t.rejects(searcher.search({ limit: 1, q: 'hammer', after: 'x' }), { name: 'PositionError' })
  t.same(await searcher.search({ limit: 1, q: 'hammer', after: '1' }), { items: [] })
})
