import t from 'tap'
import { connectionLimit, outgoingLimit, outgoingShares } from '../../http/descriptors.ts'

t.test('clients, receivers and the rest share the descriptors, and each has its own', async (t) => {
  for (const [descriptors, clients, receivers] of [
    [undefined, 4096, 512],
    [1_048_576, 4096, 512],
    [4096, 3488, 512],
    [1024, 696, 232],
    [256, 120, 40],
    [64, 1, 8]
  ] as const) {
    t.equal(connectionLimit(4096, descriptors), clients, `${descriptors}`)
    t.equal(outgoingLimit(descriptors), receivers, `${descriptors}`)
    const shares = Object.values(outgoingShares(descriptors))
    t.ok(shares.every((share) => share >= 1))
    t.ok(shares.reduce((sum, share) => sum + share, 0) <= receivers, `${descriptors}`)
  }
  t.same(outgoingShares(undefined), { deliveries: 256, idle: 128, again: 64, checks: 64 })
})
