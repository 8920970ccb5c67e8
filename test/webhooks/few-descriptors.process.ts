import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { connectionLimit, outgoingLimit, outgoingShares } from '../../http/descriptors.ts'

const program = fileURLToPath(new URL('few-descriptors.ts', import.meta.url))
const loader = new URL('../typescript/register.js', import.meta.url).href

t.test('a delivery for which the shop has no descriptor is no failure of its receiver', async (t) => {
  const command = 'ulimit -n 256 && exec "$0" "$@"'
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, `--import=${loader}`, program])
  const refused = 'The receiver refused the connection.'
  t.same(JSON.parse(stdout), [refused, 'NotSentError', refused])
})

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
