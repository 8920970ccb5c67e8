import type { Scope } from '../../domain/caller.ts'
import type { Shop } from '../build.ts'

/** A key that has a count of its own. The first request with a key counts with its address. */
export async function countedKey(shop: Shop, name: string, ...scopes: readonly Scope[]) {
  const key = await shop.key(name, ...scopes)
  await shop.app.inject({ url: '/orders', headers: key })
  return key
}
