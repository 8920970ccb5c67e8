import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, orderXml, xml } from '../build.ts'
import { remaining } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'

const ids = Array.from({ length: 45 }, (_, i) => `LAST-${i}`)
const scarce = Object.fromEntries(ids.map((id) => [id, { onHand: decimal('1') }]))
const plenty = { 'ABC-1': { onHand: decimal('1000000') } }
const everyLast = orderXml(Object.fromEntries(ids.map((id) => [id, 1])))
const minimal = { ...xml, prefer: 'return=minimal' }

t.test('a write costs one request more for every 20 events that it makes', async (t) => {
  stopClock(t).followTimers()
  const { app } = await build(t, { products: { ...scarce, ...plenty }, settings: { RATE_LIMIT: '600' } })
  let left = 600
  const costOf = async (method: 'POST' | 'PUT' | 'DELETE', url: string, payload = '') => {
    const headers = { ...minimal, 'if-match': '*' }
    const answer = await app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
    t.match(String(answer.statusCode), /^20[014]$/, answer.body)
    const cost = left - remaining(answer.headers)
    left = remaining(answer.headers)
    return { cost, url: String(answer.headers.location) }
  }
  t.equal((await costOf('POST', '/order?dry-run=true', everyLast)).cost, 1, 'a dry run makes none')
  const { cost, url } = await costOf('POST', '/order', everyLast)
  t.equal(cost, 3, '46 events: the order, and each product that sold out')
  t.equal((await costOf('PUT', url, orderXml())).cost, 3, 'a change that gives them back')
  t.equal((await costOf('PUT', url, everyLast)).cost, 3)
  t.equal((await costOf('DELETE', url)).cost, 3, 'a cancellation')
  t.equal((await costOf('POST', '/order', orderXml())).cost, 1, 'an order that sells nothing out')
})

t.test('large orders that wait for their turn are refused when the events of others have used up the rate', async (t) => {
  stopClock(t).followTimers()
  const { app, store } = await build(t, { products: { ...scarce, ...plenty }, settings: { RATE_LIMIT: '20' } })
  const line = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  const payload = everyLast.replace('</purchase-order>', `${line.repeat(1_000)}</purchase-order>`)
  const { placeOrder } = store
  let placed = 0
  store.placeOrder = (placing) => {
    placed++
    // As many events as an order of many more products would make.
    placing.onEvents?.(400)
    return placeOrder(placing)
  }
  const post = (payload: string) => app.inject({ method: 'POST', url: '/order', headers: minimal, payload })
  const answers = await Promise.all([post(payload), post(payload), post(payload)])
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 429, 429])
  t.match(answers.find(({ statusCode }) => statusCode === 429)?.headers, { 'retry-after': /^\d+$/ })
  t.equal(placed, 1)
})
