import type { Store } from '../../domain/store.ts'
import type { Shop } from '../build.ts'

/** What was read from the store for catalogues. */
export interface Reading {
  started: number
  batches: number
  /** The batches of the catalogue that was started first. */
  batchesOfFirst: number
  ended: number
}

export function watch(store: Store): Reading {
  const reading = { started: 0, batches: 0, batchesOfFirst: 0, ended: 0 }
  const real = store.allProducts
  store.allProducts = async function* () {
    const isFirst = reading.started++ === 0
    try {
      for await (const batch of real()) {
        reading.batches++
        if (isFirst) reading.batchesOfFirst++
        yield batch
      }
    } finally {
      reading.ended++
    }
  }
  return reading
}

export function get({ app }: Shop, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  return app.inject({ method, url: '/catalogue', headers })
}
