import t from 'tap'
import { requireSameId } from '../../domain/identity.ts'

t.test('a document may leave its id out, and must not have another', async (t) => {
  requireSameId('A-1', undefined)
  requireSameId('A-1', 'A-1')
  t.throws(() => requireSameId('A-1', 'a-1'), { code: 'identity-mismatch', message: 'The URI says A-1, the document a-1.' })
})
