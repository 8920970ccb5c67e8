import t from 'tap'
import { listLimits, searchLimits } from '../../plugins/sharing.ts'
import { reads } from '../../plugins/store.ts'
import { threadConnections } from '../../stores/postgres/order-writer.ts'
import { usualPoolSize } from '../../stores/postgres/store.ts'

t.test('reads take turns for the connections of the serving thread, and long ones never have all of them', async (t) => {
  t.equal(reads.running.total, usualPoolSize - threadConnections(usualPoolSize))
  t.ok(searchLimits.running.total + listLimits.running.total < reads.running.total)
})
