import t from 'tap'
import { CrowdLimit } from '../../fairness/crowd-limit.ts'

t.test('above the limit only callers who have much are crowded out, until there is room again', async (t) => {
  const limit = new CrowdLimit(10, 4)
  limit.change('crowd', 9)
  t.notOk(limit.isCrowdedOut('crowd'), 'there is room')
  limit.change('customer', 1)
  t.ok(limit.isCrowdedOut('crowd'))
  t.notOk(limit.isCrowdedOut('customer'))
  t.notOk(limit.isCrowdedOut('newcomer'))
  limit.change('crowd', -9)
  t.notOk(limit.isCrowdedOut('crowd'))
})
