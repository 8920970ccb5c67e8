import t from 'tap'
import { makeBodyCache } from '../../plugins/caching.ts'

t.test('a body is written once while it is kept', async (t) => {
  const cache = makeBodyCache(1_000_000)
  let written = 0
  const get = (key: string) => cache.get(key, () => `${key} ${++written}`)
  t.same([get('a'), get('a'), get('b'), get('a')], ['a 1', 'a 1', 'b 2', 'a 1'])
})

t.test('memory is bounded in bytes: the body that was not wanted for longest goes first, and a huge one is not kept', async (t) => {
  const cache = makeBodyCache(32_000)
  let written = 0
  const get = (key: string, length: number) => cache.get(key, () => `${++written}`.padEnd(length))
  for (let i = 0; i < 40; i++) get(`key ${i}`, 900)
  t.equal(written, 40)
  get('key 39', 900)
  t.equal(written, 40, 'the last is kept')
  get('key 0', 900)
  t.equal(written, 41, 'the first is not')
  get('huge', 2_000)
  get('huge', 2_000)
  t.equal(written, 43, 'one body never takes more than its share')
})

t.test('with no memory every body is written anew', async (t) => {
  const cache = makeBodyCache(0)
  let written = 0
  for (let i = 0; i < 2; i++) cache.get('a', () => `${++written}`)
  t.equal(written, 2)
})
