/** A program that opens a store when it is told to, writes one product and closes it: several at once must all succeed. */

import { once } from 'node:events'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { draft, shopCurrency } from './fixtures.ts'

const [path = '', id = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
const store = await openSqliteStore({ path, currency: shopCurrency })
await store.createProduct(id, draft())
await store.close()
