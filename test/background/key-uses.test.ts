import t from 'tap'
import { KeyUses } from '../../background/key-uses.ts'
import { build } from '../build.ts'

t.test('uses of keys that could not be recorded are recorded the next time, unless there is a later one', async (t) => {
  const { store } = await build(t)
  const { id: a } = await store.createKey({ customer: 'A', scopes: ['order'], hash: 'a'.repeat(64) })
  const { id: b } = await store.createKey({ customer: 'B', scopes: ['order'], hash: 'b'.repeat(64) })
  const warnings: string[] = []
  let lost = 0
  const uses: KeyUses = new KeyUses(
    async (recorded) => {
      if (lost === 2) return store.touchKeys(recorded)
      if (++lost === 1) uses.note(b, 3_000)
      throw new Error('lost')
    },
    { warn: (_, message) => warnings.push(message) }
  )
  uses.note(a, 2_000)
  uses.note(b, 2_000)
  for (let i = 0; i < 3; i++) await uses.stop()
  const used = new Map((await store.keys()).map(({ id, lastUsedAt }) => [id, lastUsedAt]))
  t.same([used.get(a), used.get(b)], [2_000, 3_000])
  t.match(warnings, [/could not be recorded/])
  t.equal(warnings.length, 1, 'once')
})
