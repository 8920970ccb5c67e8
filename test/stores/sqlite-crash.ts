/** The program that sqlite.crash.ts kills. */

import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { writeUntilKilled } from './crash-load.ts'
import { shopCurrency } from './fixtures.ts'

await writeUntilKilled([await openSqliteStore({ path: process.argv[2] ?? '', currency: shopCurrency })])
