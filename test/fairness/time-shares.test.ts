import t from 'tap'
import { TimeShares } from '../../fairness/time-shares.ts'

/**
 * Lets callers who always wait share time until `milliseconds` of it are used.
 * @param costs the milliseconds that a piece of each caller's work takes
 */
function share(shares: TimeShares, costs: Readonly<Record<string, number>>, milliseconds: number): Record<string, number> {
  const callers = Object.keys(costs)
  const given = Object.fromEntries(callers.map((caller) => [caller, 0]))
  for (const caller of callers) shares.beginToWait(caller)
  for (let time = 0; time < milliseconds; ) {
    const next = callers.reduce((least, caller) => (shares.used(caller) < shares.used(least) ? caller : least))
    const cost = costs[next] ?? 0
    shares.begin(next)
    shares.end(next, cost, callers.length)
    given[next] = (given[next] ?? 0) + cost
    time += cost
  }
  return given
}

t.test('callers who always wait get the same time, whatever a piece of their work takes', async (t) => {
  const given = share(new TimeShares(), { a: 30, b: 1, c: 7 }, 9_000)
  for (const [caller, time] of Object.entries(given)) t.ok(time > 2_950 && time < 3_050, `${caller}: ${time}`)
})

t.test('time in which a caller did not wait is not made up for, in either way', async (t) => {
  const shares = new TimeShares()
  share(shares, { a: 30 }, 6_000)
  const { a = 0, b = 0 } = share(shares, { a: 30, b: 30 }, 600)
  t.ok(Math.abs(a - b) <= 30, `${a} and ${b}`)
})

t.test('a caller goes on although new callers never stop coming', async (t) => {
  const shares = new TimeShares()
  shares.begin('a')
  shares.end('a', 20, 2)
  shares.beginToWait('a')
  let before = 0
  for (let name = ''; shares.used(name) <= shares.used('a') && before < 100; before++) {
    shares.begin(name)
    shares.end(name, 5, 2)
    name = `new ${before}`
    shares.beginToWait(name)
  }
  t.ok(before > 1 && before < 20, `${before} were served before`)
})

t.test('of very many callers, those who waited long ago are forgotten', async (t) => {
  const shares = new TimeShares()
  for (let i = 0; i <= 10_000; i++) {
    shares.end(`${i}`, 1_000_000, 1_000_000)
    shares.beginToWait(`${i}`)
  }
  t.equal(shares.used('0'), shares.used('unknown'))
  t.ok(shares.used('1') > shares.used('unknown'))
})
