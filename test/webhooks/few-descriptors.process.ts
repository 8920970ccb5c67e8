import t from 'tap'
import { runWithFewDescriptors } from '../few-descriptors.ts'

t.test('a delivery for which the shop has no descriptor is no failure of its receiver', async (t) => {
  const refused = 'The receiver refused the connection.'
  t.same(await runWithFewDescriptors(new URL('few-descriptors.ts', import.meta.url)), [refused, 'NotSentError', refused])
})
