import t from 'tap'
import { writeCursor } from '../../http/paging.ts'
import { build, draft, orderXml } from '../build.ts'
import { type Answer, ask, listening, message } from './wire.ts'

/** The links of a Link header (RFC 8288 section 3), by relation. */
function links({ headers }: Answer): Map<string, string> {
  const found = (headers['link'] ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g)
  return new Map([...found].map(([, href = '', rel = '']) => [rel, href]))
}

const ids = ({ body }: Answer) => [...body.matchAll(/<(?:product|order) id="([^"]+)"/g)].map(([, id]) => id)

t.test('paging', async (t) => {
  const names = Array.from({ length: 7 }, (_, i) => `P-${i}`)
  const { app, store, key } = await build(t, {
    products: Object.fromEntries(names.map((id) => [id, { name: 'Größe & "Maß"', categories: ['a & b/ü'] }]))
  })
  await listening(app)
  const seller = await key('ERP', 'fulfilment')
  const get = (path: string, headers: Record<string, string> = {}) => ask(t, app, message(`GET ${path}`, headers))

  async function walk(start: string, headers: Record<string, string> = {}) {
    const pages: Answer[] = []
    for (let next: string | undefined = start; next !== undefined; next = links(pages.at(-1) as Answer).get('next')) {
      pages.push(await get(next, headers))
      if (pages.length > 20) throw new Error('the pages never end')
    }
    return pages
  }

  t.test('following next by the Link header alone shows every product once (RFC 8288 3.3)', async (t) => {
    for (const accept of ['application/xml', 'text/html', 'application/json']) {
      const pages = await walk('/products?limit=3', { accept })
      t.same(
        pages.map(({ status }) => status),
        [200, 200, 200],
        accept
      )
      t.equal(links(pages[2] as Answer).get('first'), '/products?limit=3')
    }
    t.same((await walk('/products?limit=3')).flatMap(ids), names)
    t.same((await walk('/products')).flatMap(ids), names, 'one page, without next')
    t.same((await walk('/products?limit=7')).length, 1, 'a page that is just full has no next')
  })

  t.test('a link keeps the filters, is path-absolute, and percent-encoded (RFC 8288 3.1)', async (t) => {
    const filter = new URLSearchParams({ q: 'größe maß', category: 'a & b/ü', limit: '3' }).toString()
    const pages = await walk(`/products?${filter}`)
    t.same(pages.flatMap(ids).sort(), names)
    for (const page of pages) {
      for (const href of links(page).values()) t.match(href, /^\/[A-Za-z0-9._~!$&'()*+,;=:@/?%-]*$/)
    }
    t.match(
      pages[0]?.body,
      `<link rel="next" href="${links(pages[0] as Answer)
        .get('next')
        ?.replaceAll('&', '&amp;')}"/>`,
      'the body has the same'
    )
  })

  t.test('products that come and go between two pages shift nothing', async (t) => {
    const first = await get('/products?limit=3')
    await store.putProduct('A-0', draft(), {})
    await store.deleteProduct('P-1', {})
    await store.putProduct('P-2b', draft(), {})
    t.same(ids(await get(links(first).get('next') ?? '')), ['P-2b', 'P-3', 'P-4'])
    await store.deleteProduct('A-0', {})
    await store.deleteProduct('P-2b', {})
    await store.putProduct('P-1', draft(), {})
  })

  t.test('orders are paged too, newest first', async (t) => {
    const placed = []
    for (let i = 0; i < 5; i++)
      placed.push(
        (await ask(t, app, message('POST /order', { 'content-type': 'application/xml' }, orderXml({ 'P-0': 1 })))).headers['location']
      )
    const pages = await walk('/orders?limit=2&status=accepted', seller)
    t.equal(pages.length, 3)
    t.same(
      pages
        .flatMap(ids)
        .map((id) => `/order/${id}`)
        .sort(),
      placed.sort()
    )
    t.match(links(pages[0] as Answer).get('next'), 'status=accepted')
    for (const position of ['abc', '-1', '99999999999999999']) {
      const answer = await get(`/orders?after=${writeCursor('orders', position)}`, seller)
      t.match(answer, { status: 400, body: /after is not a cursor/ }, position)
    }
  })

  t.test('a cursor of orders tells a customer neither how many there are nor whether another has one', async (t) => {
    const buyer = await key('Buyer', 'order')
    const place = async (headers: Record<string, string>) => {
      const more = { ...headers, 'content-type': 'application/xml' }
      const { headers: got } = await app.inject({ method: 'POST', url: '/order', headers: more, payload: orderXml({ 'P-3': 1 }) })
      return String(got['location']).slice('/order/'.length)
    }
    const own = [await place(buyer), await place(buyer)]
    const other = await place(await key('Other', 'order'))
    const first = await get('/orders?limit=1', buyer)
    const next = links(first).get('next') ?? ''
    const cursor = new URLSearchParams(next.slice(next.indexOf('?'))).get('after') ?? ''
    t.equal(cursor, writeCursor('orders', own[1] ?? ''), 'it is made of the id that the page shows, and of nothing else')
    t.same(ids(await get(next, buyer)), [own[0]])
    const refused = async (position: string) => {
      const answer = await get(`/orders?after=${writeCursor('orders', position)}`, buyer)
      return [answer.status, answer.body.replaceAll(writeCursor('orders', position), 'CURSOR')]
    }
    t.match(await refused(other), [400, /after is not a cursor/])
    t.same(await refused(other), await refused('00000000-0000-4000-8000-000000000000'))
    for (const count of ['1', '2', '1000000']) t.match(await refused(count), [400, /Take it from the next link/], count)
  })

  t.test('a parameter that is wrong is 400 with the reason; an unknown one with those there are', async (t) => {
    const rows: readonly [string, RegExp][] = [
      ['limit=0', /limit must be a whole number from 1 to 1000/],
      ['limit=1001', /limit must be a whole number from 1 to 1000/],
      ['limit=-1', /limit must be/],
      ['limit=1.5', /limit must be a whole number from 1 to 1000/],
      ['limit=ten', /limit must be a whole number from 1 to 1000/],
      ['limit=', /limit must be/],
      ...['0x10', '1e2', '1.0', '%201', '+5', 'Infinity'].map((limit): [string, RegExp] => [
        `limit=${limit}`,
        /limit must be a whole number from 1 to 1000/
      ]),
      ...[
        '2020-01-01T00:00:00%2B01',
        '2020-01-01T00:00:00%2B0100',
        '2020-01-01T00:00:00',
        '2020-01-01T24:00:01Z',
        '2020-02-30T00:00:00Z'
      ].map((time): [string, RegExp] => [`updated-since=${time}`, /updated-since must/]),
      ['limit=1&limit=2', /limit occurs more than once/],
      ['updated-since=yesterday', /updated-since must be a time/],
      ['after=', /after is empty/],
      ['after=x', /after is not a cursor/],
      [`after=${writeCursor('id', 'P-1')}x`, /after is not a cursor/],
      [`after=${writeCursor('orders', 'P-1')}`, /after is not a cursor/],
      [`q=bolt&after=${writeCursor('id', 'P-1')}`, /after is not a cursor/],
      ...['abc', '-1', '1.5', '1e3', ' 1', '9999999999999999999'].map((position): [string, RegExp] => [
        `q=bolt&after=${writeCursor('text', position)}`,
        /after is not a cursor/
      ]),
      ['page=2', /There is no parameter "page"\. The parameters are limit, after, q, category, updated-since\./],
      ['Limit=2', /There is no parameter "Limit"/],
      ['__proto__=1', /There is no parameter "__proto__"|limit/]
    ]
    for (const [query, reason] of rows) {
      const answer = await get(`/products?${query}`)
      t.equal(answer.status, 400, query)
      t.match(answer.body, reason)
    }
    const { body } = await get('/products?page=2&size=3', { accept: 'application/json' })
    t.match(JSON.parse(body), {
      available: ['limit', 'after', 'q', 'category', 'updated-since'],
      errors: [{ path: 'page' }, { path: 'size' }]
    })
    t.equal((await get('/products?limit=1000')).status, 200, 'the most that there may be')
    t.equal((await get('/products?limit=01')).status, 200)
    for (const time of ['2016-12-31T23:59:60Z', '2017-01-01T00:59:60.5%2B01:00', '2016-12-31t23:59:59.25z', '2016-12-31%2023:59:59-00:00'])
      t.ok(ids(await get(`/products?updated-since=${time}`)).length > 0, time)
  })
})

t.test('a page never has the tag of another, also when the catalogue changes while it is read', async (t) => {
  const { app, store } = await build(t)
  await listening(app)
  const get = (headers: Record<string, string> = {}) => ask(t, app, message('GET /products', headers))
  const { products } = store
  let changes = 0
  const changing = (most: number) => {
    store.products = async (query) => {
      if (changes++ < most) await store.putProduct('ABC-1', draft({ name: `Changed ${changes}` }), {})
      return products(query)
    }
  }
  const before = await get()
  changing(1)
  await store.putProduct('ABC-1', draft({ name: 'Changed' }), {})
  const during = await get()
  t.match(during, { status: 200, body: /Changed 1/ })
  t.not(during.headers['etag'], before.headers['etag'])
  t.match(await get(), { status: 200, body: during.body, headers: { etag: during.headers['etag'] } })
  t.equal((await get({ 'if-none-match': String(during.headers['etag']) })).status, 304)
  changes = 0
  changing(Number.POSITIVE_INFINITY)
  await store.putProduct('ABC-1', draft({ name: 'Changed' }), {})
  const never = await get({ 'if-none-match': String(during.headers['etag']) })
  t.match([never.status, never.headers['etag']], [200, undefined], 'while it changes without a pause there is no tag')
})
