import t from 'tap'
import { build, orderXml, xml } from '../build.ts'

t.test('a query that is refused says what is wrong and what to write (RFC 9457 3.1.4)', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('ERP', 'fulfilment')
  const order = String((await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml() })).headers['location'])
  const time = 'must be a time as RFC 3339 writes it, such as 2026-11-21T08:30:00Z.'
  for (const [url, detail] of [
    [`/orders?placed-since=2026-11-21T08:30:00+01:00`, `placed-since ${time} A + in a URI is a space: write %2B for it.`],
    [`/orders?modified-since=2026-11-21T08:30:00+01:00`, `modified-since ${time} A + in a URI is a space: write %2B for it.`],
    [`/products?updated-since=2026-11-21T08:30:00+01:00`, `updated-since ${time} A + in a URI is a space: write %2B for it.`],
    [`/orders?placed-since=yesterday`, `placed-since ${time}`],
    [`/orders?placed-since=`, `placed-since ${time}`],
    ['/orders?placed-since=2026-11-31T00:00:00Z', `placed-since ${time}`],
    [
      '/products?updated-since=2026-11-21T08:30:00Z&updated-since=2026-11-21T08:30:00Z',
      'updated-since occurs more than once. Send it once.'
    ],
    ['/products?limit=1&limit=1', 'limit occurs more than once. Send it once.'],
    ['/products?q=a&q=b', 'q occurs more than once. Send it once.'],
    ['/orders?order=newest&order=newest', 'order occurs more than once. Send it once.'],
    ['/events?after=a&after=b', 'after occurs more than once. Send it once.'],
    [`${order}?page=1&page=2`, 'page occurs more than once. Send it once.'],
    ['/products?limit=ten', 'limit must be a whole number from 1 to 1000.'],
    ['/products?limit=0', 'limit must be a whole number from 1 to 1000.'],
    ['/products?limit=99999999999999999999', 'limit must be a whole number from 1 to 1000.'],
    ['/orders?order=up', 'order must be one of newest, oldest, not "up".'],
    ['/events?type=nothing', /^type must be one of order-placed, .*, not "nothing"\.$/],
    ['/orders?customer=', 'customer is empty. Give it a value, or leave it out.'],
    [`/orders?order-number=${'x'.repeat(65)}`, 'order-number may have at most 64 characters.'],
    ['/events?after=x', 'after is not a cursor of this list. Take it from the next link of a page with the same parameters.'],
    [`/order?${'product=a&'.repeat(101)}`, 'product may occur at most 100 times.'],
    ['/order?product=a%20b', '"a b" is not a value that product can have.'],
    ['/products?limti=1', 'There is no parameter "limti". The parameters are limit, after, q, category, updated-since.']
  ] as const) {
    const { statusCode, body } = await shop.app.inject({ url, headers: { ...seller, accept: 'application/json' } })
    t.match([statusCode, JSON.parse(body)], [400, { detail }], url)
  }
})
