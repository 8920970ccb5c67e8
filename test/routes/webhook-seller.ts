import type { Test } from 'tap'
import { build } from '../build.ts'

const allowed = { WEBHOOK_ALLOW: '127.0.0.1' }

export const idOf = (location: unknown) => String(location).split('/').at(-1) ?? ''

export async function seller(t: Test) {
  const shop = await build(t, { settings: allowed })
  return { shop, key: await shop.key('ERP', 'fulfilment') }
}
