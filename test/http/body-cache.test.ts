import t from 'tap'
import { makeBodyCache } from '../../http/body-cache.ts'

const body = (length: number, link?: string) => ({ bytes: Buffer.alloc(length), link })

t.test('memory is bounded in bytes: the body that was not wanted for longest goes first, and a huge one is not kept', async (t) => {
  const cache = makeBodyCache(32_000)
  if (!cache) throw new Error('there is no cache')
  const kept = () => Array.from({ length: 40 }, (_, i) => i).filter((i) => cache.get(`key ${i}`))
  for (let i = 0; i < 40; i++) cache.set(`key ${i}`, body(900))
  const some = kept()
  t.ok(some.length > 15 && some.length * 900 < 32_000, `${some.length} are kept`)
  t.same(
    some,
    Array.from({ length: some.length }, (_, i) => 40 - some.length + i),
    'the last'
  )
  cache.get(`key ${some[0]}`)
  cache.set('key 40', body(900))
  t.ok(cache.get(`key ${some[0]}`), 'what was wanted stays')
  t.notOk(cache.get(`key ${some[1]}`))
  cache.set('huge', body(2_000))
  t.notOk(cache.get('huge'), 'one body never takes more than its share')
  cache.set('links', body(1, '<x>'.repeat(1_000)))
  t.notOk(cache.get('links'), 'and its links count')
})

t.test('with no memory there is no cache', async (t) => t.equal(makeBodyCache(0), undefined))
