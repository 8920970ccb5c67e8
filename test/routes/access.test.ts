import t from 'tap'
import type { Scope } from '../../domain/caller.ts'
import { browserForm, build, orderXml, type Shop, xml } from '../build.ts'

type Who = 'guest' | 'buyer' | 'other buyer' | 'catalogue' | 'fulfilment' | 'bad key'

interface Row {
  readonly what: string
  readonly send: (shop: Prepared, headers: Record<string, string>) => Promise<{ statusCode: number }>
  readonly expected: Readonly<Record<Who, number>>
}

interface Prepared extends Shop {
  readonly guestOrder: string
  readonly buyerOrder: string
  readonly headers: Readonly<Record<Who, Record<string, string>>>
}

async function prepare(t: Parameters<typeof build>[0], settings: Record<string, string> = {}): Promise<Prepared> {
  const shop = await build(t, { settings, products: { 'ABC-1': {}, 'ABC-2': {} } })
  const key = (customer: string, ...scopes: Scope[]) => shop.key(customer, ...scopes)
  const headers = {
    guest: {},
    buyer: await key('ACME', 'order'),
    'other buyer': await key('Globex', 'order'),
    catalogue: await key('Shop', 'catalogue'),
    fulfilment: await key('ERP', 'fulfilment'),
    'bad key': { authorization: 'Bearer tp_wrong' }
  }
  const place = async (customer?: string) => {
    const order = { notes: [], extensions: [], items: [{ product: { productId: 'ABC-1' }, quantity: '1', notes: [] }] }
    const placed = await shop.store.placeOrder({ order, status: 'accepted', ...(customer ? { customer } : {}) } as never)
    return `/order/${placed.order.id}`
  }
  return { ...shop, headers, guestOrder: await place(), buyerOrder: await place('ACME') }
}

const product = '<product><name>New</name><price>1</price></product>'

/** A write with the current version, which `reader` reads first, so that it is never refused for its precondition. */
async function put({ app, headers: keys }: Prepared, url: string, payload: string, headers: Record<string, string>, reader: Who) {
  const { headers: got } = await app.inject({ url, headers: keys[reader] })
  return app.inject({ method: 'PUT', url, headers: { ...xml, ...headers, 'if-match': String(got['etag']) }, payload })
}

const everybody = (status: number) => ({
  guest: status,
  buyer: status,
  'other buyer': status,
  catalogue: status,
  fulfilment: status,
  'bad key': 401
})
const get =
  (url: string): Row['send'] =>
  ({ app }, headers) =>
    app.inject({ url, headers })

const rows: readonly Row[] = [
  ...['/', '/products', '/product/ABC-1', '/product/ABC-1/stock', '/order', '/schemas/product.xsd', '/problems/not-found'].map((url) => ({
    what: `GET ${url}`,
    send: get(url),
    expected: everybody(200)
  })),
  {
    what: 'POST /products',
    send: ({ app }, headers) => app.inject({ method: 'POST', url: '/products', headers: { ...xml, ...headers }, payload: product }),
    expected: { ...everybody(403), guest: 401, catalogue: 201 }
  },
  {
    what: 'PUT /product/ABC-2',
    send: (shop, headers) => put(shop, '/product/ABC-2', product, headers, 'guest'),
    expected: { ...everybody(403), guest: 401, catalogue: 200 }
  },
  {
    what: 'PUT /product/ABC-2/stock',
    send: (shop, headers) => put(shop, '/product/ABC-2/stock', '<stock><on-hand>5</on-hand></stock>', headers, 'guest'),
    expected: { ...everybody(403), guest: 401, catalogue: 200 }
  },
  {
    what: 'DELETE /product/ABC-2',
    send: ({ app }, headers) => app.inject({ method: 'DELETE', url: '/product/ABC-2', headers }),
    expected: { ...everybody(403), guest: 401, catalogue: 204 }
  },
  {
    what: 'POST /order',
    send: ({ app }, headers) => app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload: orderXml() }),
    expected: { guest: 201, buyer: 201, 'other buyer': 201, catalogue: 403, fulfilment: 403, 'bad key': 401 }
  },
  {
    what: 'GET /orders',
    send: get('/orders'),
    expected: { guest: 401, buyer: 200, 'other buyer': 200, catalogue: 403, fulfilment: 200, 'bad key': 401 }
  },
  {
    what: "GET a guest's order",
    send: ({ app, guestOrder }, headers) => app.inject({ url: guestOrder, headers }),
    expected: { ...everybody(200), catalogue: 403 }
  },
  {
    what: "GET a customer's order",
    send: ({ app, buyerOrder }, headers) => app.inject({ url: buyerOrder, headers }),
    expected: { guest: 404, buyer: 200, 'other buyer': 404, catalogue: 403, fulfilment: 200, 'bad key': 401 }
  },
  {
    what: "GET the status of a customer's order",
    send: ({ app, buyerOrder }, headers) => app.inject({ url: `${buyerOrder}/status`, headers }),
    expected: { guest: 404, buyer: 200, 'other buyer': 404, catalogue: 403, fulfilment: 200, 'bad key': 401 }
  },
  {
    what: "PUT the status of a customer's order",
    send: (shop, headers) =>
      put(shop, `${shop.buyerOrder}/status`, '<order-status><status>accepted</status></order-status>', headers, 'fulfilment'),
    expected: { guest: 401, buyer: 403, 'other buyer': 403, catalogue: 403, fulfilment: 200, 'bad key': 401 }
  },
  {
    what: "PUT a customer's order",
    send: async (shop, headers) => {
      const seen = headers === shop.headers.fulfilment ? 'fulfilment' : 'buyer'
      return put(shop, shop.buyerOrder, orderXml({ 'ABC-1': 2 }), headers, seen)
    },
    expected: { guest: 404, buyer: 200, 'other buyer': 404, catalogue: 403, fulfilment: 403, 'bad key': 401 }
  },
  {
    what: "PUT a guest's order",
    send: (shop, headers) =>
      put(shop, shop.guestOrder, orderXml({ 'ABC-1': 2 }), headers, headers === shop.headers.fulfilment ? 'fulfilment' : 'guest'),
    expected: { ...everybody(200), catalogue: 403, fulfilment: 403 }
  },
  {
    what: "DELETE a customer's order",
    send: ({ app, buyerOrder }, headers) => app.inject({ method: 'DELETE', url: buyerOrder, headers }),
    expected: { guest: 404, buyer: 200, 'other buyer': 404, catalogue: 403, fulfilment: 403, 'bad key': 401 }
  },
  {
    what: "PUT the status of a customer's order to cancelled",
    send: (shop, headers) =>
      put(shop, `${shop.buyerOrder}/status`, '<order-status><status>cancelled</status></order-status>', headers, 'fulfilment'),
    expected: { guest: 401, buyer: 403, 'other buyer': 403, catalogue: 403, fulfilment: 200, 'bad key': 401 }
  }
]

t.test('every route answers each kind of caller as the design says', async (t) => {
  const shop = await prepare(t)
  for (const { what, send, expected } of rows) {
    const got: Record<string, number> = {}
    for (const who of Object.keys(expected) as Who[]) got[who] = (await send(shop, shop.headers[who])).statusCode
    t.same(got, expected, what)
  }
})

t.test('with GUEST_ORDERS=off a guest reads the catalogue, and needs a key for orders', async (t) => {
  const shop = await prepare(t, { GUEST_ORDERS: 'off' })
  const { app, guestOrder, headers } = shop
  t.equal((await app.inject('/products')).statusCode, 200)
  const post = (more: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...more }, payload: orderXml() })
  const refused = await post({})
  t.equal(refused.statusCode, 401)
  t.match(refused.headers['www-authenticate'], /Bearer.*Basic/)
  t.equal((await post(headers.buyer)).statusCode, 201)
  t.equal((await app.inject(guestOrder)).statusCode, 401)
})

t.test('a key is shown as Bearer, or as the password of Basic (RFC 6750 2.1, RFC 7617 2)', async (t) => {
  const { app, key } = await build(t)
  const { authorization } = await key('ACME', 'order')
  const secret = authorization.slice('Bearer '.length)
  const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  for (const header of [
    authorization,
    `bearer ${secret}`,
    basic('', secret),
    basic('ACME', secret),
    basic('ACME', secret).replace('Basic', 'basic')
  ]) {
    t.equal((await app.inject({ url: '/orders', headers: { authorization: header } })).statusCode, 200, header.slice(0, 8))
  }
  for (const header of [
    '',
    'Bearer',
    'Bearer ',
    `Digest ${secret}`,
    basic(secret, ''),
    secret,
    `Bearer ${secret}x`,
    `Bearer ${secret.slice(0, -1)}`
  ]) {
    t.equal((await app.inject({ url: '/orders', headers: { authorization: header } })).statusCode, 401, `refused: ${header.slice(0, 8)}`)
  }
})

t.test('a 401 says how to send a key, and a 412 says what to send', async (t) => {
  const { app, headers: keys } = await prepare(t)
  const keyless = await app.inject({ url: '/orders' })
  t.match([keyless.statusCode, keyless.body], [401, /Send it as Authorization: Bearer KEY/])
  const headers = { ...xml, ...keys.catalogue, 'if-match': '"another"' }
  const outdated = await app.inject({ method: 'PUT', url: '/product/ABC-1', headers, payload: product })
  t.match([outdated.statusCode, outdated.body], [412, /Read it again, and send the new ETag/])
})

t.test('a revoked or expired key is refused everywhere, also where none is needed', async (t) => {
  const { app, store, key } = await build(t)
  const headers = await key('ACME', 'order')
  t.equal((await app.inject({ url: '/products', headers })).statusCode, 200)
  const [stored] = await store.keys()
  await store.revokeKey(stored?.id ?? '')
  const refused = await app.inject({ url: '/products', headers })
  t.equal(refused.statusCode, 401)
  t.match(refused.body, /unknown, expired or revoked/)
})

t.test('a form without content is no way around the key that a route needs', async (t) => {
  const { app } = await build(t, { settings: { GUEST_ORDERS: 'off' } })
  const headers = browserForm
  for (const url of ['/order', '/order/any', '/order/any/status', '/product/ABC-1/stock']) {
    for (const payload of ['', '_method=PUT', '_method=DELETE', '_more=5']) {
      const { statusCode } = await app.inject({ method: 'POST', url, headers, payload })
      t.equal(statusCode, 401, `${url} ${payload}`)
    }
  }
})
