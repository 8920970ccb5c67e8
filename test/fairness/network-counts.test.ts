import t from 'tap'
import { NetworkCounts } from '../../fairness/network-counts.ts'

t.test('the busiest network has the most connections, and a network without any is forgotten', async (t) => {
  const counts = new NetworkCounts()
  t.equal(counts.busiest, undefined)
  for (const network of ['a', 'b', 'b', 'a', 'b']) counts.add(network)
  t.equal(counts.busiest, 'b')
  t.equal(counts.total, 5)
  for (const network of ['b', 'b', 'b']) counts.remove(network)
  t.equal(counts.busiest, 'a')
  t.equal(counts.total, 2)
  for (const network of ['a', 'a']) counts.remove(network)
  t.equal(counts.busiest, undefined)
  t.equal(counts.total, 0)
})
