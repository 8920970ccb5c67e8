import t from 'tap'
import { Amounts } from '../../fairness/amounts.ts'

t.test('the largest amount has a name, and a name that has nothing left is forgotten', async (t) => {
  const amounts = new Amounts()
  t.equal(amounts.largest, undefined)
  for (const name of ['a', 'b', 'b', 'a', 'b']) amounts.add(name, 1)
  t.equal(amounts.largest, 'b')
  t.equal(amounts.of('b'), 3)
  t.equal(amounts.total, 5)
  amounts.add('b', -3)
  t.equal(amounts.largest, 'a')
  t.equal(amounts.of('b'), 0)
  t.equal(amounts.total, 2)
  amounts.add('a', -2)
  t.equal(amounts.largest, undefined)
  t.equal(amounts.total, 0)
})
