import t from 'tap'
import type { ApiDescription, OperationMethod } from '../../representations/api-description.ts'
import { loadSample } from '../../sample.ts'
import { build } from '../build.ts'
import { makeChecker, resolve } from './api-walk.ts'

type Headers = Readonly<Record<string, string>>

/** A shop with the sample catalogue, and a client that knows nothing of it but its description. */
async function client(t: Parameters<typeof build>[0], settings: Readonly<Record<string, string>> = {}) {
  const { app, store, key } = await build(t, { products: {}, settings })
  await loadSample(store)
  const description = (await app.inject('/openapi.json')).json<ApiDescription>()
  const check = makeChecker(t, description)
  const seller = await key('Seller', 'catalogue', 'fulfilment', 'order')
  const values: Record<string, string> = { product_id: 'ABC-1', file: 'product.xsd', code: 'not-found', group: 'orders' }

  const send = async (method: OperationMethod, path: string, headers: Headers = {}, payload?: string | object) => {
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name)
    const answer = await app.inject({ method: method.toUpperCase() as 'GET', url, headers, ...(payload === undefined ? {} : { payload }) })
    check(method, path, answer)
    return answer
  }
  /** The example of a request, as bytes. */
  const example = (method: OperationMethod, path: string, mediaType: string): string => {
    const examples = description.paths[path]?.[method]?.requestBody?.content[mediaType]?.examples ?? {}
    const $ref = Object.values(examples)[0]?.$ref
    const value = $ref && (resolve(description, $ref) as { value: unknown }).value
    if (typeof value === 'string') return value
    return mediaType.endsWith('json') ? JSON.stringify(value) : new URLSearchParams(value as Record<string, string>).toString()
  }
  const tagOf = async (path: string, headers: Headers = {}) => ({ 'if-match': String((await send('get', path, headers)).headers['etag']) })
  return { app, description, seller, values, send, example, tagOf }
}

for (const mediaType of ['application/xml', 'application/json']) {
  t.test(`the examples in ${mediaType} are accepted, and answered as described`, async (t) => {
    const { seller, values, send, example, tagOf } = await client(t)
    const as = { 'content-type': mediaType, accept: mediaType }
    const put = async (path: string, headers: Headers = seller) =>
      send('put', path, { ...headers, ...as, ...(await tagOf(path, headers)) }, example('put', path, mediaType))

    const placed = await send('post', '/order', as, example('post', '/order', mediaType))
    t.equal(placed.statusCode, 201, placed.body)
    values['order_id'] = String(placed.headers['location']).split('/').at(-1) ?? ''
    for (const accept of ['application/xml', 'text/xml', 'text/html', 'application/json']) {
      for (const path of [
        '/',
        '/products',
        '/product/{product_id}',
        '/product/{product_id}/stock',
        '/order',
        '/order/{order_id}',
        '/order/{order_id}/status',
        '/orders'
      ]) {
        t.equal((await send('get', path, { accept, ...seller })).statusCode, 200)
        t.equal((await send('head', path, { accept, ...seller })).statusCode, 200)
      }
    }
    t.equal((await put('/order/{order_id}', {})).statusCode, 200)
    t.equal((await put('/order/{order_id}/status')).statusCode, 200)
    t.equal((await put('/product/{product_id}/stock')).statusCode, 200)
    t.equal((await put('/product/{product_id}')).statusCode, 200)
    const created = await send('post', '/products', { ...seller, ...as }, example('post', '/products', mediaType))
    t.equal(created.statusCode, 201, created.body)
    values['product_id'] = 'NEW-1'
    const createdByPut = await send(
      'put',
      '/product/{product_id}',
      { ...seller, ...as, 'if-none-match': '*' },
      example('put', '/product/{product_id}', mediaType)
    )
    t.equal(createdByPut.statusCode, 201, createdByPut.body)
    t.equal((await send('delete', '/product/{product_id}', seller)).statusCode, 204)
    t.equal((await send('get', '/product/{product_id}')).statusCode, 410)

    const minimal = await send('post', '/order', { ...as, prefer: 'return=minimal' }, example('post', '/order', mediaType))
    t.equal(minimal.statusCode, 201)
    values['order_id'] = String(minimal.headers['location']).split('/').at(-1) ?? ''
    t.equal((await send('delete', '/order/{order_id}')).statusCode, 200)
    t.equal((await send('delete', '/order/{order_id}', { prefer: 'return=minimal' })).statusCode, 204)
  })
}

t.test('the example of a form is accepted, and answered as described', async (t) => {
  const { send, example } = await client(t)
  const form = 'application/x-www-form-urlencoded'
  const placed = await send('post', '/order', { 'content-type': form, accept: 'text/html' }, example('post', '/order', form))
  t.equal(placed.statusCode, 303, placed.body)
})

t.test('an order that is sent again is answered as described', async (t) => {
  const { send, seller, example } = await client(t)
  const as = { ...seller, 'content-type': 'application/xml' }
  const order = example('post', '/order', 'application/xml')
  t.equal((await send('post', '/order', { ...as, 'idempotency-key': '"a"' }, order)).statusCode, 201)
  t.equal((await send('post', '/order', { ...as, 'idempotency-key': '"a"' }, order)).statusCode, 201)
  t.equal((await send('post', '/order', as, order)).statusCode, 200)
  t.equal((await send('post', '/order', as, order.replace('>3<', '>4<'))).statusCode, 409)
  t.equal((await send('post', '/order', { ...as, 'idempotency-key': '"a"' }, order.replace('>3<', '>4<'))).statusCode, 422)
})

t.test('everything else that can be read is answered as described', async (t) => {
  const { send, values } = await client(t)
  for (const path of [
    '/schemas/{file}',
    '/problems/{code}',
    '/openapi.json',
    '/docs',
    '/docs/{group}',
    '/health/live',
    '/health/ready',
    '/metrics',
    '/session'
  ]) {
    t.equal((await send('get', path)).statusCode, 200, path)
    t.equal((await send('head', path)).statusCode, 200, path)
    t.equal((await send('options', path)).statusCode, 204, path)
  }
  for (const accept of ['application/xml', 'text/csv', 'application/x-ndjson']) {
    t.equal((await send('get', '/catalogue', { accept })).statusCode, 200)
  }
  values['file'] = 'shop.css'
  t.equal((await send('get', '/public/{file}')).statusCode, 200)
})

t.test('refusals are answered as described', async (t) => {
  const { app, send, seller, example, tagOf, values } = await client(t)
  const as = { 'content-type': 'application/xml', accept: 'application/problem+json, application/json;q=0.9' }
  const expect = async (status: number, ...request: Parameters<typeof send>) => {
    const answer = await send(...request)
    t.equal(answer.statusCode, status, answer.body)
  }
  const order = example('post', '/order', 'application/xml')
  await expect(400, 'post', '/order', as, '<purchase-order>')
  await expect(400, 'post', '/order', as, '<!DOCTYPE purchase-order><purchase-order/>')
  await expect(401, 'post', '/order', { ...as, authorization: 'Bearer tp_wrong' }, order)
  await expect(401, 'get', '/orders', as)
  await expect(406, 'post', '/order', { ...as, accept: 'image/png' }, order)
  await expect(409, 'post', '/order', as, order.replace('>9.99<', '>1.00<'))
  await expect(413, 'post', '/order', as, `<a>${' '.repeat(3_000_000)}</a>`)
  await expect(415, 'post', '/order', { ...as, 'content-type': 'text/plain' }, order)
  await expect(422, 'post', '/order', as, order.replace('ABC-1', 'unknown'))
  await expect(422, 'post', '/order', as, '<purchase-order/>')
  await expect(428, 'put', '/product/{product_id}', { ...as, ...seller }, example('put', '/product/{product_id}', 'application/xml'))
  await expect(
    412,
    'put',
    '/product/{product_id}',
    { ...as, ...seller, 'if-match': '"x"' },
    example('put', '/product/{product_id}', 'application/xml')
  )
  await expect(
    422,
    'put',
    '/product/{product_id}',
    { ...as, ...seller, ...(await tagOf('/product/{product_id}')) },
    '<product id="other"><name>N</name><price>1</price></product>'
  )
  await expect(412, 'get', '/product/{product_id}', { ...as, 'if-match': '"x"' })
  const { 'if-match': tag } = await tagOf('/products')
  await expect(304, 'get', '/products', { 'if-none-match': tag })
  values['product_id'] = 'unknown'
  await expect(404, 'get', '/product/{product_id}', as)
  await expect(404, 'get', '/product/{product_id}/stock', as)
  values['order_id'] = 'unknown'
  for (const method of ['get', 'delete'] as const) await expect(404, method, '/order/{order_id}', as)
  t.equal((await app.inject('/products?limit=0')).statusCode, 400)
})
