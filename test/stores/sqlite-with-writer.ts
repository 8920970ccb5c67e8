import { join } from 'node:path'
import type { Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import { openWithWriter } from '../../stores/sqlite/store.ts'
import type { SqliteWriter } from '../../stores/sqlite/writer.ts'
import { databaseFolder } from '../memory.ts'
import { shopCurrency } from './fixtures.ts'
import { newSqliteFile } from './new-database.ts'

/** A new store, with its writer and the path of its file. @param limits.maxPages the most pages that the file may have */
export async function openStoreWithWriter(
  t: Test,
  limits: { maxPages?: number } = {}
): Promise<{ store: Store; writer: SqliteWriter; path: string }> {
  const path = await newSqliteFile(join(databaseFolder(t), 'shop.db'))
  const opened = await openWithWriter({ path, currency: shopCurrency, ...limits })
  t.teardown(() => opened.store.close())
  return { ...opened, path }
}
