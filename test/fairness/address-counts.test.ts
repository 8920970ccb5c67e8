import t from 'tap'
import { AddressCounts } from '../../fairness/address-counts.ts'

t.test('the busiest address has the most connections, and an address without any is forgotten', async (t) => {
  const counts = new AddressCounts()
  t.equal(counts.busiest, undefined)
  for (const address of ['a', 'b', 'b', 'a', 'b']) counts.add(address)
  t.equal(counts.busiest, 'b')
  t.equal(counts.total, 5)
  for (const address of ['b', 'b', 'b']) counts.remove(address)
  t.equal(counts.busiest, 'a')
  t.equal(counts.total, 2)
  for (const address of ['a', 'a']) counts.remove(address)
  t.equal(counts.busiest, undefined)
  t.equal(counts.total, 0)
})
