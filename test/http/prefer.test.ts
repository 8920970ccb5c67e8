import t from 'tap'
import { build, orderXml } from '../build.ts'
import { type Answer, ask, listening, message } from './wire.ts'

const product = (name = 'New') => `<product><name>${name}</name><price>1</price></product>`

t.test('Prefer: return (RFC 7240 4.2)', async (t) => {
  const { app, key } = await build(t)
  await listening(app)
  const seller = await key('Shop', 'catalogue', 'fulfilment', 'order')
  const send = (method: string, path: string, headers: Record<string, string | readonly string[]> = {}, body?: string): Promise<Answer> =>
    ask(
      t,
      app,
      message(`${method} ${path}`, { ...seller, ...(body === undefined ? {} : { 'content-type': 'application/xml' }), ...headers }, body)
    )
  const minimal = { prefer: 'return=minimal' }
  const tagOf = async (path: string) => (await send('GET', path)).headers['etag'] ?? ''

  t.test('minimal: what is created answers 201 with Location, to POST with ETag, and no content', async (t) => {
    const rows: readonly [string, string, string, RegExp][] = [
      ['POST', '/order', orderXml(), /^\/order\/[0-9a-f-]{36}$/],
      ['POST', '/products', product(), /^\/product\//],
      ['PUT', '/product/MINIMAL', product(), /^\/product\/MINIMAL$/]
    ]
    for (const [method, path, body, location] of rows) {
      const answer = await send(method, path, minimal, body)
      t.match(answer, { status: 201, body: '', headers: { location, 'preference-applied': 'return=minimal', 'content-length': '0' } }, path)
      for (const name of ['content-type', 'content-location']) t.notOk(name in answer.headers, name)
      if (method === 'PUT') continue
      t.match(answer.headers['etag'], /^"/)
      t.equal(await tagOf(answer.headers['location'] ?? ''), answer.headers['etag'], 'the tag is the one of the next GET')
    }
  })

  t.test('minimal: what is changed answers 204 in place of 200', async (t) => {
    const order = (await send('POST', '/order', {}, orderXml())).headers['location'] ?? ''
    const rows: readonly [string, string, string | undefined][] = [
      ['PUT', '/product/ABC-1', product()],
      ['PUT', '/product/ABC-1/stock', '<stock><on-hand>7</on-hand></stock>'],
      ['PUT', order, orderXml({ 'ABC-1': 2 })],
      ['PUT', `${order}/status`, '<order-status><status>shipped</status></order-status>']
    ]
    for (const [method, path, body] of rows) {
      const answer = await send(method, path, { ...minimal, 'if-match': await tagOf(path) }, body)
      t.match(answer, { status: 204, body: '', headers: { 'preference-applied': 'return=minimal' } }, path)
      for (const name of ['content-type', 'content-length', 'content-location']) t.notOk(name in answer.headers, name)
    }
    const cancelled = (await send('POST', '/order', {}, orderXml())).headers['location'] ?? ''
    t.match(
      await send('DELETE', cancelled, minimal),
      { status: 204, body: '', headers: { 'preference-applied': 'return=minimal' } },
      'DELETE of an order'
    )
    t.match((await send('GET', cancelled)).body, '<status>cancelled</status>')
  })

  t.test('minimal: PUT has no validator, since what was sent is stored in another form (RFC 9110 9.3.4)', async (t) => {
    const created = await send('PUT', '/product/STORED', minimal, product())
    const replaced = await send('PUT', '/product/STORED', { ...minimal, 'if-match': await tagOf('/product/STORED') }, product('Other'))
    t.same([created.status, replaced.status], [201, 204])
    for (const { headers } of [created, replaced]) for (const name of ['etag', 'last-modified']) t.notOk(name in headers, name)
    const shown = await send('PUT', '/product/STORED', { 'if-match': await tagOf('/product/STORED') }, product())
    t.equal(shown.headers['etag'], await tagOf('/product/STORED'), 'with the new representation goes its tag')
  })

  t.test('representation: it is sent, as it is without a preference, and the answer says so', async (t) => {
    for (const [prefer, applied] of [
      ['return=representation', 'return=representation'],
      ['respond-async', undefined],
      ['return=all', undefined]
    ] as const) {
      const answer = await send('PUT', '/product/ABC-1', { prefer, 'if-match': await tagOf('/product/ABC-1') }, product(prefer))
      t.match(answer, { status: 200, headers: { 'content-location': '/product/ABC-1' }, body: `<name>${prefer}</name>` })
      t.equal(answer.headers['preference-applied'], applied)
    }
  })

  t.test('the first preference counts, also over several lines', async (t) => {
    t.equal((await send('POST', '/order', { prefer: ['handling=strict', 'return=minimal, return=representation'] }, orderXml())).body, '')
    t.not((await send('POST', '/order', { prefer: ['return=representation', 'return=minimal'] }, orderXml())).body, '')
  })

  t.test('it changes nothing of a read, nor of a refusal', async (t) => {
    const read = await send('GET', '/product/ABC-1', minimal)
    t.equal(read.status, 200)
    const refused = await send('POST', '/order', minimal, orderXml({ NOPE: 1 }))
    t.match(refused, { status: 422, body: /unknown-product/ })
    for (const { headers } of [read, refused]) t.notOk('preference-applied' in headers)
    t.equal(read.headers['vary'], 'Accept', 'so nothing that can be kept varies by it (RFC 7240 2)')
  })
})
