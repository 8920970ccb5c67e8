/** Full text has to find the same on both stores, though each has a tokenizer and an index of its own. */

import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Store } from '../../domain/store.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { execute, postgresFor } from './embedded.ts'
import { draft, everything, shopCurrency } from './fixtures.ts'

const server = await postgresFor(t)

async function found(store: Store, q: string): Promise<string[]> {
  return (await everything((after) => store.products({ limit: 100, q, ...after }))).map(({ id }) => id).sort()
}

const texts = [
  'Sechskantschraube M8x20 DIN 933, verzinkt',
  'Sechskant-Schraube M8-20',
  'schraube m8 20',
  "l'été à Paris",
  'ete paris',
  'ÉTÉ',
  'naïve café',
  'cafe\u0301',
  'Straße',
  'STRASSE',
  'STRAẞE',
  'Ångström',
  'angstrom',
  'Øre',
  'ore',
  'İstanbul',
  'istanbul',
  'ΟΔΟΣ',
  'οδος',
  'Москва',
  'МОСКВА',
  'ёлка',
  'елка',
  'が',
  'か',
  '東京タワー',
  '東京 タワー',
  '한국어',
  'กำลัง',
  'कार्य',
  '½ inch',
  '1/2 inch',
  '10.5 mm',
  '10,5mm',
  '²',
  'x²',
  'H₂O',
  'Ⅷ',
  'user@example.org',
  'https://example.org/a/b?c=d',
  'a.b.c',
  'C++',
  'c',
  'AT&T',
  "rock'n'roll",
  '100%',
  '№ 5',
  '\u{1f600} smile',
  'emoji\u{1f600}joined',
  '\u{1d400}bold',
  'tab\tand\nline',
  'zero\u200bwidth',
  'soft\u00adhyphen',
  'no\u00a0break',
  'under_score',
  'CamelCase',
  '0042',
  '42',
  '-42',
  '1e3',
  'ＦＵＬＬ',
  'ﬁne',
  'ǅ',
  'ß',
  'x'.repeat(300),
  'ạ̈',
  'ấ',
  'Việt Nam',
  'viet nam'
]

t.test('the words of a text find the same products on PostgreSQL as on SQLite', async (t) => {
  const postgres = await openPostgresStore({ url: await server.database(), currency: shopCurrency })
  const sqlite = await openSqliteStore({ path: join(t.testdir({}), 'shop.db'), currency: shopCurrency })
  t.teardown(() => Promise.all([postgres.close(), sqlite.close()]))
  const items = texts.map((description, i) => ({
    id: `p${String(i).padStart(3, '0')}`,
    draft: draft({ description, categories: [`c ${i}`] })
  }))
  for (const store of [postgres, sqlite]) await store.importProducts(items)
  const queries = new Set([
    ...texts,
    ...texts.flatMap((text) => text.split(/\s+/)),
    ...texts.flatMap((text) => [2, 3, 4, 5].map((end) => [...text].slice(0, end).join(''))),
    'm8-20',
    'm8 20',
    'schraube-m8',
    'c 1',
    'hammer été',
    'org a',
    'org/a'
  ])
  for (const q of queries) t.same(await found(postgres, q), await found(sqlite, q), JSON.stringify(q))
  const piece = fc.constantFrom(
    ...texts.flatMap((text) => [...text.split(/\b/u), text.slice(1, 4)]),
    ' ',
    '-',
    '"',
    "'",
    '\\',
    '&',
    '|',
    '!',
    ':*',
    '<->',
    '(',
    ')'
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      const q = pieces.join('')
      const [here, there] = [await found(postgres, q), await found(sqlite, q)]
      if (here.join() !== there.join()) throw new Error(`${JSON.stringify(q)} finds ${here} here and ${there} there`)
    }),
    { numRuns: 200 }
  )
})

t.test('a search goes on past the row numbers that it looks at first, and misses none', async (t) => {
  const url = await server.database()
  const store = await openPostgresStore({ url, currency: shopCurrency })
  t.teardown(() => store.close())
  const ids: string[] = []
  for (const at of [1, 2, 40_000, 50_001, 50_002, 50_003, 100_003, 100_004, 400_000, 9_000_000]) {
    await execute(url, "SELECT setval('product_seq_seq', $1, false)", [at])
    ids.push(`p${at}`)
    await store.createProduct(`p${at}`, draft({ name: at === 400_000 ? 'Saw' : 'Hammer', categories: at > 100_003 ? ['far'] : [] }))
  }
  const hammers = ids.filter((id) => id !== 'p400000')
  for (const limit of [1, 2, 3, 4, 20]) {
    const all = await everything((after) => store.products({ limit, q: 'hammer', ...after }))
    t.same(
      all.map(({ id }) => id),
      hammers,
      `${limit} a page`
    )
  }
  t.same(
    (await everything((after) => store.products({ limit: 1, q: 'hammer', category: 'far', ...after }))).map(({ id }) => id),
    ['p100004', 'p9000000']
  )
  t.same(
    (await store.products({ limit: 5, q: 'saw' })).items.map(({ id }) => id),
    ['p400000']
  )
})

t.test('more changed products than are sorted at once are paged as well as few', async (t) => {
  const store = await openPostgresStore({ url: await server.database(), currency: shopCurrency })
  t.teardown(() => store.close())
  const ids = Array.from({ length: 20_001 }, (_, i) => `p${String(i).padStart(5, '0')}`)
  for (let i = 0; i < ids.length; i += 2_000) {
    await store.importProducts(
      ids.slice(i, i + 2_000).map((id) => ({ id, draft: draft({ categories: Number(id.slice(1)) % 2 ? [] : ['even'] }) }))
    )
  }
  const { modifiedAt } = await store.product('p00000')
  for (const updatedSince of [modifiedAt, modifiedAt + 1]) {
    const all = (await everything((after) => store.products({ limit: 2_000, updatedSince, ...after }))).map(({ id }) => id)
    t.same(all, ids.slice(updatedSince === modifiedAt ? 0 : 2_000))
    const even = all.filter((id) => Number(id.slice(1)) % 2 === 0)
    t.same(
      (await everything((after) => store.products({ limit: 2_000, updatedSince, category: 'even', ...after }))).map(({ id }) => id),
      even
    )
    t.same(
      (await everything((after) => store.products({ limit: 2_000, updatedSince, q: 'hammer', category: 'even', ...after }))).map(
        ({ id }) => id
      ),
      even
    )
  }
})
