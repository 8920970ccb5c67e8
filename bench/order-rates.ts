/** Measures orders per second through a Store, and compares two ways of committing them in a table. */

import type { Store } from '../domain/store.ts'
import { type Contest, interleave, median, random, ratio, type Settings, table } from './measure.ts'
import { placing } from './shop.ts'

type Taker = Pick<Store, 'placeOrder'>

/** Runs clients that each wait for one order before they place the next. @returns orders per second */
export async function placeFor(store: Taker, clients: number, { milliseconds, seed }: Settings): Promise<number> {
  const start = performance.now()
  let placed = 0
  const client = async (_: unknown, i: number) => {
    for (const next = random(seed + i); performance.now() < start + milliseconds; placed++) await store.placeOrder(placing(next))
  }
  await Promise.all(Array.from({ length: clients }, client))
  return (1000 * placed) / (performance.now() - start)
}

/** A table with a row for each number of clients. `single` commits each order separately; `grouped` commits all waiting orders together. */
export async function compareRates(
  settings: Settings,
  clients: readonly number[],
  contest: (clients: number) => Contest<'single' | 'grouped', number>
): Promise<string> {
  const rows: (string | number)[][] = []
  for (const count of clients) {
    const { single, grouped } = await interleave(settings.rounds, contest(count), settings.seed)
    rows.push([count, Math.round(median(single)), Math.round(median(grouped)), ratio(grouped, single).text])
  }
  return table(['clients', 'one transaction an order, orders/s', 'group commit, orders/s', 'ratio'], rows)
}

export function throughStores(settings: Settings, { single, grouped }: Record<'single' | 'grouped', Taker>): Promise<string> {
  return compareRates(settings, [1, 16, 64, 256], (clients) => ({
    single: () => placeFor(single, clients, settings),
    grouped: () => placeFor(grouped, clients, settings)
  }))
}
