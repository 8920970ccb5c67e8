/** More rounds: `npx tap --timeout=0 --test-arg=1000 test/stores/sqlite.crash.ts`. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { crashSuite } from './crash.ts'
import { shopCurrency } from './fixtures.ts'

const folder = t.testdir({})

crashSuite(t, Number(process.argv[2] ?? 3), async (round) => {
  await rm(join(folder, `${round - 1}`), { recursive: true, force: true })
  const path = join(folder, `${round}`, 'shop.db')
  return {
    program: new URL('./sqlite-crash.ts', import.meta.url),
    argument: path,
    open: () => openSqliteStore({ path, currency: shopCurrency })
  }
})
