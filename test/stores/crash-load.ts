/** What the killed process does: it writes to the store from many sides at once, and says on its output what was acknowledged. */

import type { Order } from '../../domain/order.ts'
import type { Placing, Store } from '../../domain/store.ts'
import { item, purchase } from './fixtures.ts'

export const crashProducts = ['a', 'b', 'c', 'd', 'e'] as const
export const startStock = '1000000'

/** A line of the output. */
export interface Acknowledged {
  /** The idempotency key, which is also the order's note. */
  readonly key: string
  readonly order: Order
}

const writers = 32

export function keyed(key: string, products: readonly string[]): Placing {
  const order = purchase(
    products.map((id) => item(id, '1.5')),
    { notes: [key] }
  )
  return { order, customer: 'acme', status: 'accepted', idempotency: { scope: 'acme', key, fingerprint: key } }
}

export async function writeUntilKilled(store: Store): Promise<never> {
  await Promise.all(Array.from({ length: writers }, (_, i) => write(store, i)))
  throw new Error('a writer that never ends has ended')
}

async function write(store: Store, writer: number): Promise<never> {
  for (let i = 0; ; i++) {
    const key = `${writer}-${i}`
    const products = crashProducts.slice(i % 4, (i % 4) + 1 + (writer % 3))
    const { order } = await store.placeOrder(keyed(key, products))
    say(key, order)
    if (i % 4 === 1) say(key, await store.changeOrder(order.id, purchase([item('e', i)], { notes: [key] }), { version: 1 }))
    if (i % 4 === 2) say(key, await store.setOrderStatus(order.id, 'cancelled', { version: 1 }))
  }
}

/** One write of one line, which on a pipe is done when it returns. */
function say(key: string, order: Order): void {
  process.stdout.write(`${JSON.stringify({ key, order } satisfies Acknowledged)}\n`)
}
