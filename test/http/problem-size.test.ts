import t from 'tap'
import { mostBytes, writeWithin } from '../../http/problem-size.ts'
import type { ProblemDocument } from '../../representations/problem.ts'

/** Writes a problem that has errors of these lengths, as JSON. */
function written(lengths: readonly number[]) {
  const errors = lengths.map((length) => ({ detail: 'e'.repeat(length) }))
  let times = 0
  const bytes = writeWithin({ type: '/problems/a', title: 'A', status: 422, detail: 'D.', instance: '/', errors }, (problem) => {
    times++
    return JSON.stringify(problem)
  })
  const problem: ProblemDocument = JSON.parse(bytes.toString())
  return { size: bytes.length, times, kept: problem.errors?.length ?? 0, detail: problem.detail }
}

t.test('a problem has as many errors as fit, and is written only a few times', async (t) => {
  const fits = written(Array(100).fill(500))
  t.match(fits, { times: 1, kept: 100, detail: 'D.' })
  const even = written(Array(100).fill(1_000))
  t.match(even, { times: 2, kept: 58, detail: 'D. The last 42 errors are left out, to keep this response short.' })
  const uneven = written([...Array(20).fill(4_000), ...Array(80).fill(10)])
  t.ok(uneven.kept > 4 && uneven.times <= 5, `${uneven.kept} errors in ${uneven.times} attempts`)
  const one = written([mostBytes])
  t.match(one, { times: 2, kept: 0, detail: 'D. The last error is left out, to keep this response short.' })
  for (const { size } of [fits, even, uneven, one]) t.ok(size <= mostBytes)
})
