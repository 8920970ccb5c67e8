import t from 'tap'
import { readInTurn } from '../../http/read-in-turn.ts'

const turn = () => new Promise(setImmediate)

t.test('a value is read once in a moment of a turn, and again in the next turn', async (t) => {
  let reads = 0
  const read = readInTurn(() => ++reads)
  await turn()
  // The machine may take longer than half a millisecond between any two of them.
  const values = Array.from({ length: 1_000 }, read)
  t.ok(reads < 1_000, `${reads} reads`)
  t.same(
    values,
    [...values].sort((a, b) => a - b)
  )
  const before = reads
  await turn()
  t.equal(read(), before + 1)
})

t.test('a value is read again half a millisecond later, in the same turn', async (t) => {
  let reads = 0
  const read = readInTurn(() => ++reads)
  await turn()
  const before = read()
  const since = performance.now()
  while (performance.now() - since < 1);
  t.equal(read(), before + 1)
})

t.test('an error is not kept', async (t) => {
  let reads = 0
  const read = readInTurn(() => {
    reads++
    if (reads === 1) throw new Error('out of reach')
    return reads
  })
  t.throws(read, { message: 'out of reach' })
  t.equal(read(), 2)
})
