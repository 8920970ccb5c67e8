import { join } from 'node:path'
import type { Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import { openWithWriter } from '../../stores/sqlite/store.ts'
import type { SqliteWriter } from '../../stores/sqlite/writer.ts'
import { shopCurrency } from './fixtures.ts'
import { newSqliteFile } from './new-database.ts'

/** A new store whose writer and file are at hand, and which may be told how large the file gets, in pages. */
export async function openParts(
  t: Test,
  limits: { maxPages?: number } = {}
): Promise<{ store: Store; writer: SqliteWriter; path: string }> {
  const path = await newSqliteFile(join(t.testdir({}), 'shop.db'))
  const parts = await openWithWriter({ path, currency: shopCurrency, ...limits })
  t.teardown(() => parts.store.close())
  return { ...parts, path }
}
