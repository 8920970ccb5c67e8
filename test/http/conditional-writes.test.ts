import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, draft, orderXml } from '../build.ts'
import { ask, listening, message } from './wire.ts'

const product = (name: string) => `<product><name>${name}</name><price>1</price></product>`

t.test('conditional writes', async (t) => {
  const products = Object.fromEntries(['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((id) => [id, {}]))
  const { app, store, key } = await build(t, { products })
  await listening(app)
  const seller = await key('Shop', 'catalogue', 'fulfilment', 'order')
  type Headers = Record<string, string | readonly string[]>
  const send = (method: string, path: string, headers: Headers = {}, body?: string) =>
    ask(
      t,
      app,
      message(`${method} ${path}`, { ...seller, ...(body === undefined ? {} : { 'content-type': 'application/xml' }), ...headers }, body)
    )
  const put = (path: string, headers: Headers = {}, name = 'New') => send('PUT', path, headers, product(name))
  const tagOf = async (path: string, headers: Headers = {}) => (await send('GET', path, headers)).headers['etag'] ?? 'none'
  const nameOf = async (id: string) => (await store.product(id)).name

  t.test('a PUT that replaces without If-Match is 428, and changes nothing (RFC 6585 3)', async (t) => {
    const date = new Date(Date.now() + 60_000).toUTCString()
    for (const conditions of [{}, { 'if-unmodified-since': date }, { 'if-none-match': '"x"' }, { 'if-modified-since': date }]) {
      t.match(await put('/product/A', conditions), { status: 428, headers: { 'cache-control': 'no-store' } }, JSON.stringify(conditions))
    }
    t.equal((await send('PUT', '/product/A/stock', {}, '<stock><on-hand>1</on-hand></stock>')).status, 428)
    t.equal(await nameOf('A'), 'Hex bolt')
  })

  t.test('If-Match holds by strong comparison with the tag of any representation (RFC 9110 13.1.1)', async (t) => {
    const tag = await tagOf('/product/A')
    for (const other of ['"x"', `W/${tag}`, '"x", "y"', await tagOf('/product/B'), await tagOf('/product/A/stock')]) {
      t.equal((await put('/product/A', { 'if-match': other })).status, 412, other)
    }
    for (const malformed of ['', 'x', tag.slice(1), `${tag} ${tag}`])
      t.equal((await put('/product/A', { 'if-match': malformed })).status, 400, `malformed: ${malformed}`)
    t.equal(await nameOf('A'), 'Hex bolt')
    for (const accept of ['application/xml', 'application/json', 'text/html', 'text/xml']) {
      t.equal((await put('/product/A', { 'if-match': `"x", ${await tagOf('/product/A', { accept })}` })).status, 200, accept)
    }
    t.equal((await put('/product/A', { 'if-match': ['"x"', await tagOf('/product/A')] })).status, 200, 'in the second of two lines')
    t.equal((await put('/product/A', { 'if-match': tag })).status, 412, 'the tag of a version that was')
  })

  t.test('If-Match: * holds if there is something, and fails if there is nothing (RFC 9110 13.1.1)', async (t) => {
    t.equal((await put('/product/B', { 'if-match': '*' })).status, 200)
    t.equal((await put('/product/NEW', { 'if-match': '*' })).status, 412)
    t.equal((await put('/product/NEW', { 'if-match': '"x"' })).status, 412)
    await t.rejects(store.product('NEW'), { code: 'product-not-found' })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => put('/product/B', { 'if-match': '*' }, `B ${i}`)))
    t.same(
      answers.map(({ status }) => status),
      Array(10).fill(200),
      'also while others change it'
    )
  })

  t.test('PUT with If-None-Match: * creates, and the second is 412 (RFC 9110 13.1.2)', async (t) => {
    const created = await put('/product/ONCE', { 'if-none-match': '*' }, 'First')
    t.match(created, { status: 201, headers: { location: '/product/ONCE', etag: /^"/ } })
    t.equal((await put('/product/ONCE', { 'if-none-match': '*' }, 'Second')).status, 412)
    t.equal((await put('/product/ONCE', { 'if-none-match': created.headers['etag'] ?? '' }, 'Second')).status, 412, 'or by its tag')
    t.equal(
      (await put('/product/ONCE', { 'if-none-match': 'broken' }, 'Second')).status,
      400,
      'a write is never done on a misunderstanding'
    )
    t.equal(await nameOf('ONCE'), 'First')
    t.equal((await put('/product/TWICE', {})).status, 201, 'no condition is needed to create')
  })

  t.test('50 clients create at once: one is 201, the others are 412', async (t) => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => put('/product/RACE', { 'if-none-match': '*' }, `Racer ${i}`)))
    t.same(answers.map(({ status }) => status).sort(), [201, ...Array(49).fill(412)])
    t.equal(await nameOf('RACE'), `Racer ${answers.findIndex(({ status }) => status === 201)}`)
  })

  t.test('50 clients that read one version PUT at once: one succeeds, the others are 412', async (t) => {
    const rows: readonly [string, (i: number) => string][] = [
      ['/product/C', (i) => product(`Writer ${i}`)],
      ['/product/D/stock', (i) => `<stock><on-hand>${i}</on-hand></stock>`]
    ]
    for (const [path, body] of rows) {
      const tag = await tagOf(path)
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => send('PUT', path, { 'if-match': tag }, body(i))))
      t.same(answers.map(({ status }) => status).sort(), [200, ...Array(49).fill(412)], path)
      const winner = answers.find(({ status }) => status === 200)
      t.equal(await tagOf(path), winner?.headers['etag'], 'what is there is what the one that succeeded was told')
    }
  })

  t.test('If-Unmodified-Since guards a write, except beside If-Match (RFC 9110 13.1.4)', async (t) => {
    const { headers } = await send('GET', '/product/E')
    const [tag = '', date = ''] = [headers['etag'], headers['last-modified']]
    const before = new Date(Date.parse(date) - 1000).toUTCString()
    t.equal((await send('DELETE', '/product/E', { 'if-unmodified-since': before })).status, 412)
    t.equal((await put('/product/E', { 'if-unmodified-since': before, 'if-match': tag })).status, 200)
    t.equal((await send('DELETE', '/product/E', { 'if-unmodified-since': 'some day' })).status, 204, 'no date is no condition')
  })

  t.test('DELETE: If-Match is not needed, and guards it when it is there', async (t) => {
    const tag = await tagOf('/product/F')
    await store.putProduct('F', draft({ price: decimal('2') }), {})
    t.equal((await send('DELETE', '/product/F', { 'if-match': tag })).status, 412)
    t.equal((await send('DELETE', '/product/F', { 'if-match': await tagOf('/product/F') })).status, 204)
    t.equal((await send('DELETE', '/product/F', { 'if-match': '*' })).status, 410, 'what is gone is gone, whatever the condition')
    t.equal((await put('/product/F', { 'if-match': '*' })).status, 412, 'and it is nothing to replace')
    t.equal((await put('/product/F', { 'if-none-match': '*' })).status, 201, 'but may be made again')
  })

  t.test('a write’s other faults come before its conditions (RFC 9110 13.2.1)', async (t) => {
    const stale = { 'if-match': '"x"' }
    t.equal((await put('/product/G', { ...stale, authorization: 'Bearer tp_bad' })).status, 401)
    t.equal((await put('/product/G', { ...stale, accept: 'image/png' })).status, 406)
    t.equal((await put('/product/G', { ...stale, 'content-type': 'image/png' })).status, 415)
    t.equal((await send('PUT', '/product/G', stale, '<product>')).status, 400)
    t.equal((await send('PUT', '/product/G', stale, '<product/>')).status, 422)
    t.equal((await send('PUT', '/order/nope', stale, orderXml())).status, 404)
    t.equal((await send('PUT', '/orders', stale, orderXml())).status, 405)
  })

  t.test('the tag of a PUT’s or POST’s answer is the one that the next GET has', async (t) => {
    const created = await send('POST', '/products', {}, product('Posted'))
    const path = created.headers['location'] ?? ''
    t.equal(await tagOf(path), created.headers['etag'])
    const replaced = await put(path, { 'if-match': created.headers['etag'] ?? '' })
    t.equal(replaced.status, 200)
    t.equal(await tagOf(path), replaced.headers['etag'])
    const asJson = await put(path, { 'if-match': replaced.headers['etag'] ?? '', accept: 'application/json' })
    t.equal(await tagOf(path, { accept: 'application/json' }), asJson.headers['etag'])
  })

  t.test('an order and its status have tags of their own', async (t) => {
    const placed = await ask(t, app, message('POST /order', { 'content-type': 'application/xml' }, orderXml({ B: 1 })))
    const path = placed.headers['location'] ?? ''
    const shipped = '<order-status><status>shipped</status></order-status>'
    t.equal((await send('PUT', `${path}/status`, { 'if-match': await tagOf(path) }, shipped)).status, 412)
    t.equal((await send('PUT', `${path}/status`, { 'if-match': await tagOf(`${path}/status`) }, shipped)).status, 200)
  })
})
