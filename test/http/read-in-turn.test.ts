import t from 'tap'
import { readInTurn } from '../../http/read-in-turn.ts'

const turn = () => new Promise(setImmediate)

t.test('a value is read once in a turn, and again in the next turn', async (t) => {
  let reads = 0
  const read = readInTurn(() => ++reads)
  t.same([read(), read(), read()], [1, 1, 1])
  await turn()
  t.same([read(), read()], [2, 2])
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
