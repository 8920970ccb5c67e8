import t from 'tap'
import { Database } from '../../stores/postgres/database.ts'
import { productPage } from '../../stores/postgres/product-pages.ts'
import { codedSql } from '../../stores/postgres/products.ts'
import { execute, postgresFor } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'
import { blocksRead, type Explained, planSteps } from './plan-steps.ts'
import { RememberingDatabase } from './remembering-database.ts'

const server = await postgresFor(t)

const fill = `INSERT INTO product (id, version, name, price, unit, gtin, categories, images, backorder, availability, modified_at, deleted, words)
  SELECT 'p' || n, 1, 'Hammer', '9.99', 'C62', lpad(n::text, 14, '0'), '{}', '{}', true, 'in-stock', n, false, '' FROM generate_series(1, 20000) n`

t.test('products are found by id and by GTIN in the indexes, also while the table has no statistics', async (t) => {
  const url = await newShopDatabase(server)
  await execute(url, fill)
  const database = new Database(url, 1)
  t.teardown(() => database.close())
  const codes = Array.from({ length: 100 }, (_, i) => (i < 50 ? `p${i + 1}` : String(1000 + i).padStart(14, '0')))
  for (const title of ['without statistics', 'with statistics']) {
    if (title === 'with statistics') await execute(url, 'ANALYZE product')
    const [row] = await database.query<Explained>(`EXPLAIN (ANALYZE, FORMAT JSON) ${codedSql}`, [codes, codes.slice(50)])
    const steps = planSteps(row)
    t.equal(steps[0]?.['Actual Rows'], 100, title)
    t.ok(
      steps.every((step) => !step['Rows Removed by Filter'] && step['Actual Rows'] <= 100),
      `no other row is read ${title}`
    )
  }
})

t.test('a page of a category looks up its products only, also the last page and a category of few products', async (t) => {
  const url = await newShopDatabase(server)
  await execute(url, fill)
  await execute(
    url,
    "INSERT INTO product_category SELECT unnest(ARRAY['all', CASE WHEN seq > 19000 THEN 'last' ELSE 'first' END]), id FROM product"
  )
  await execute(url, "INSERT INTO product_category VALUES ('few', 'p1'), ('few', 'p9999')")
  await execute(url, 'INSERT INTO stock (product, version, on_hand, modified_at) SELECT seq, 1, 5, 1 FROM product')
  await execute(url, 'ANALYZE')
  const database = new RememberingDatabase(url, 1)
  t.teardown(() => database.close())
  for (const query of [
    { category: 'all' },
    { category: 'all', after: 'p7' },
    { category: 'all', after: 'p7', updatedSince: 1 },
    { category: 'last' },
    { category: 'few' },
    { category: 'none' }
  ]) {
    for (const limit of [10, 100]) {
      const { items } = await productPage(database, shopCurrency, { ...query, limit })
      const blocks = blocksRead(await database.explainLast())
      t.ok(blocks <= 10 + 5 * items.length, `${blocks} blocks for ${items.length} of ${limit} products: ${JSON.stringify(query)}`)
    }
  }
})
