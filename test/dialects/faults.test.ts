import t from 'tap'
import { objectionsOf } from '../../dialects/faults.ts'

t.test('an allowance that was not agreed is refused, and any other fault makes the document invalid', async (t) => {
  const fault = (code: Parameters<typeof objectionsOf>[0][number]['code']) => ({ code, detail: code, line: 1, path: '/Order' })
  const [allowance, several, currencies] = [fault('allowance-not-agreed'), fault('several-addresses'), fault('two-currencies')]
  t.same(objectionsOf([several, allowance, currencies]), { invalid: [several, currencies], refused: [allowance] })
  t.same(objectionsOf([]), { invalid: [], refused: [] })
})
