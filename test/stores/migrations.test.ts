import { hash } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { applicationId } from '../../stores/sqlite/file.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { shopCurrency } from './fixtures.ts'
import { goesOn, historic, keepsTotals, migration, sharesGtin, twins, twoLines } from './history.ts'

/** SHA-256. A new migration gets a line here when it is made, and a line never changes again. */
const digests = {
  sqlite: {
    '0001-shop.sql': 'd8e107b64de39478972d7a3a3e5131ba79e6a0e191641238e25332a4212bfd46',
    '0002-main-category.sql': 'd481fc3de4125e8b6e0e6deb1c0819384b060f7359f35fc53ff7253d8411a91e',
    '0003-idempotency.sql': 'c67a886065e19f3f25162e5e29b89f3ee38088b0a53492201b853dbc0f42c245',
    '0004-currency.sql': '6e7caf349387d59c630c27149582103c23b1c2deccb656707d8537c1a08bf271',
    '0005-quantities.sql': '6b8a19d5e3071ddd5d1e1d48f4359b2832901129c8a513cd90a118cae40d1299',
    '0006-order-summary.sql': 'c5e69264c0d65901c0d16a7e63d6b30e8d42af359d8a99e8b39391bdb4110825',
    '0007-order-document.sql': '5462cbd2072ee186db14fd25039c9096a16ece2b365eea75f7f8fd18b8ee28ca',
    '0008-event.sql': 'be4984b456515e0f89b3c8055d01dd2f7e08ce13e39d98ff34ed213b0eb3ee3e',
    '0009-shipment.sql': 'a891f4774370e1c6c0779b28c576abc925f1622ef0fe78f8fc2b5171e6866296',
    '0010-webhook.sql': 'e81b1af20afe19e5f7b3928314f091614933f6b0398e0525cf9a64d6bccfe45f',
    '0011-order-lists.sql': '4671429beb3de43651e131969554cdcbdb145d024ab7a9ba333d955b1a15e01b',
    '0012-gtin14.sql': 'bdaa9be10ebe850bd18da0b73011a2d58ec79318207c5774d739d073912584eb'
  },
  postgres: {
    '0001-shop.sql': '4a31d34979eca4ecda13f213a7e925dd41bf27924083fc3e250c55a8aaf90ea4',
    '0002-main-category.sql': 'a5d97e501faad0e8f859c3a6186cc10ba248d43d28c8f714e00623dadfb3f847',
    '0003-idempotency.sql': 'e4e83dfc13eaf387e75a88645f8a63492225adfbbecac91864fe26c95df2dbe2',
    '0004-currency.sql': '1e3e9e640f58cbd87cd894393ebf0c4bdd33b5f7f06e5cb9e51d97baaabd3076',
    '0005-content-size.sql': '4b940792607f4ad06f429128f9b4b06cb5df64d9bab1f09ebbd0a27b3f5481b1',
    '0006-quantities.sql': '72aa05f18a30a32c1c5e54476e09d7a38f9c15ef9c9c7273b92d5d0347c81f34',
    '0007-order-summary.sql': 'f426299cec54cbe10634908e5b09556f8e5c01146271d1dab42231731205830f',
    '0008-order-document.sql': 'd9651e99c10946c6de93a638a36e03dca56509897244d0982acecb8c7df11a32',
    '0009-event.sql': '809e331c19e94f5a1c7780758dc131751613a9913a26b807f3e887242a14dfab',
    '0010-shipment.sql': '7428e1028af0d450dd713e404838481f7f4c8d115f0c7e95d4b89067007fd88f',
    '0011-webhook.sql': 'a925f9c55ef4f5db46b69e5b553b19e0ffcf5780a434f218b1d249a3c64b4b01',
    '0012-order-lists.sql': '35ada75dc9825a553748d2f407bc1d517b2e94b8300e9102c712eb7abd6ded52',
    '0013-gtin14.sql': '4f3635b73135f07fe69b84b05ab5e7b621212cd351a6b1fcd1c0ed5120824536',
    '0014-gtin14-index.sql': '5058b5832d89e818216e76d3c9dfe0f2719300334b6f3ff4edc12bb03045b323',
    '0015-search-letters.sql': 'e2ad38184c7885522b9306303495b5acefaf6b6135b2ba815386add4920a08bd'
  }
} as const

const sha256 = (text: string) => hash('sha256', text)

for (const dialect of ['sqlite', 'postgres'] as const) {
  t.test(`a migration of ${dialect} is never edited, renamed or removed: what is new is a new one`, async (t) => {
    const names = readdirSync(new URL(`../../stores/${dialect}/migrations/`, import.meta.url)).sort()
    t.same(Object.fromEntries(names.map((name) => [name, sha256(migration(dialect, name))])), digests[dialect])
    t.same(
      names.map((name) => Number(name.slice(0, 4))),
      names.map((_, i) => i + 1),
      'they are numbered without a gap, each number once'
    )
  })
}

const names = Object.keys(digests.sqlite)

/** Opens a database with the rows of 69ef1f6, as it was when it had so many migrations. @param more SQL that it ran at the end */
async function openAsOf(t: Test, migrations: number, more = ''): Promise<Store> {
  const folder = t.testdir()
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'shop.db')
  const db = new Connection(path)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA application_id = ${applicationId}`)
  for (const [n, name] of names.slice(0, migrations).entries()) {
    db.exec(migration('sqlite', name))
    if (n === 0) db.exec(historic('sqlite', 'rows.sql'))
  }
  db.exec(`UPDATE idempotency SET kept_at = unixepoch() * 1000; PRAGMA user_version = ${migrations}; ${more}`)
  db.close()
  const store = await openSqliteStore({ path, currency: shopCurrency })
  t.teardown(() => store.close())
  return store
}

for (const [i, newest] of names.entries()) {
  t.test(`a SQLite database of the time when ${newest} was the newest goes on`, async (t) => goesOn(t, await openAsOf(t, i + 1)))
}

t.test('a SQLite database that has two products with one GTIN in two lengths goes on', async (t) => {
  await sharesGtin(t, await openAsOf(t, names.indexOf('0012-gtin14.sql'), twins))
})

t.test('a SQLite database that has an order whose lines were rounded each by itself keeps its totals', async (t) => {
  await keepsTotals(t, await openAsOf(t, 1, twoLines))
})
