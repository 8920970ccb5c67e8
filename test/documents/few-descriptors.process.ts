import t from 'tap'
import { runWithFewDescriptors } from '../few-descriptors.ts'

t.test('a document process for which there is no descriptor is not started, and the service goes on', async (t) => {
  const found = await runWithFewDescriptors(new URL('few-descriptors.ts', import.meta.url))
  t.same(found, ['unavailable', { fields: [['a', 'b']], isCut: false }])
})
