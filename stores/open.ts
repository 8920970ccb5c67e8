import type { Store } from '../domain/store.ts'

/**
 * Opens the store of a database URL and applies its migrations.
 * @throws StoreOpenError
 * @param url `sqlite:PATH` or `postgres://…`
 */
export async function openStore(url: string, currency: string): Promise<Store> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('./sqlite/store.ts')
    return openSqliteStore({ path: url.slice('sqlite:'.length), currency })
  }
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore({ url, currency })
}
