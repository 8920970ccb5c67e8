import t from 'tap'
import { build, form, orderXml } from '../build.ts'
import { type Answer, ask, listening, message } from './wire.ts'

const java = 'text/html, image/gif, image/jpeg, */*; q=0.2'
const olderJava = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'

const orderJson = '{"item":[{"productId":"ABC-1","quantity":1}]}'
const productXml = '<product><name>N</name><price>1</price></product>'
const productJson = '{"name":"N","price":"1"}'

type Notation = 'xml' | 'json'
type Headers = Readonly<Record<string, string>>

t.test('a document is answered in its own notation', async (t) => {
  const { app, store, key } = await build(t)
  await listening(app)
  const seller = await key('Shop', 'catalogue', 'fulfilment', 'order')
  const send = (method: string, path: string, headers: Headers = {}, body?: string): Promise<Answer> =>
    ask(t, app, message(`${method} ${path}`, { ...seller, ...headers }, body))
  const as = (notation: Notation, accept?: string): Headers => ({
    'content-type': `application/${notation}`,
    ...(accept === undefined ? {} : { accept })
  })
  const typeOf = ({ headers }: Answer) => headers['content-type']?.split(';')[0]
  const tagOf = async (path: string) => (await send('GET', path)).headers['etag'] ?? ''

  t.test('unless Accept ranks another above it by name and weight (RFC 9110 12.5.1)', async (t) => {
    const rows: readonly (readonly [accept: string | undefined, toXml: string, toJson: string])[] = [
      [undefined, 'application/xml', 'application/json'],
      ['*/*', 'application/xml', 'application/json'],
      [java, 'application/xml', 'application/json'],
      [olderJava, 'application/xml', 'application/json'],
      ['application/json, text/plain, */*', 'application/xml', 'application/json'],
      ['application/xml, application/json', 'application/xml', 'application/json'],
      ['application/json, */*;q=0.1', 'application/json', 'application/json'],
      ['application/xml, */*;q=0.1', 'application/xml', 'application/xml'],
      ['application/json', 'application/json', 'application/json'],
      ['application/xml', 'application/xml', 'application/xml'],
      ['text/html', 'text/html', 'text/html'],
      ['text/html, application/xml;q=0.9, application/json;q=0.9', 'text/html', 'text/html']
    ]
    for (const [accept, toXml, toJson] of rows) {
      t.equal(typeOf(await send('POST', '/order', as('xml', accept), orderXml())), toXml, `XML, ${accept}`)
      t.equal(typeOf(await send('POST', '/order', as('json', accept), orderJson)), toJson, `JSON, ${accept}`)
      const problem = (type: string) => type.replace('/xml', '/problem+xml').replace('/json', '/problem+json')
      const [invalidXml, invalidJson] = [orderXml({ 'ABC-1': 0 }), orderJson.replace('1}', '0}')]
      for (const [notation, body, expected] of [
        ['xml', invalidXml, toXml],
        ['json', invalidJson, toJson]
      ] as const) {
        const answer = await send('POST', '/order', as(notation, accept), body)
        t.equal(answer.status, 422)
        t.equal(typeOf(answer), problem(expected), `${notation} refused, ${accept}`)
      }
    }
  })

  t.test('by POST and PUT, products, stock, orders and status alike', async (t) => {
    for (const [notation, product, incomplete, stock, order, status] of [
      [
        'xml',
        productXml,
        '<product/>',
        '<stock><on-hand>70</on-hand></stock>',
        orderXml(),
        '<order-status><status>shipped</status></order-status>'
      ],
      ['json', productJson, '{}', '{"onHand":70}', orderJson, '{"status":"shipped"}']
    ] as const) {
      for (const accept of ['*/*', java]) {
        const headers = as(notation, accept)
        const placed = await send('POST', '/order', headers, order)
        const place = placed.headers['location'] ?? ''
        const answers: Answer[] = [placed, await send('POST', '/products', headers, product)]
        for (const [path, body] of [
          ['/product/ABC-1/stock', stock],
          [place, order],
          [`${place}/status`, status]
        ] as const) {
          answers.push(await send('PUT', path, { ...headers, 'if-match': await tagOf(path) }, body))
        }
        const created = `/product/${notation}-${accept.length}`
        answers.push(await send('PUT', created, headers, product))
        for (const answer of answers) {
          t.ok(answer.status === 200 || answer.status === 201, answer.body)
          t.equal(typeOf(answer), `application/${notation}`)
        }
        for (const [method, path, body, code] of [
          ['PUT', created, product, 428],
          ['PUT', '/product/..bad%20id', product, 404],
          ['PUT', created, incomplete, 422],
          ['PUT', `${place}/status`, '', 400],
          ['POST', '/order', '', 400],
          ['POST', '/nothing', order, 404],
          ['POST', '/orders', order, 405]
        ] as const) {
          const refused = await send(method, path, headers, body)
          t.equal(refused.status, code, `${method} ${path}`)
          t.equal(typeOf(refused), `application/problem+${notation}`, `${method} ${path}`)
        }
      }
    }
  })

  t.test('a repeated request is answered in its own notation', async (t) => {
    const again = { ...as('json'), 'idempotency-key': 'a-key-of-its-own-1' }
    await send('POST', '/order', again, orderJson)
    const replayed = await send('POST', '/order', { ...again, accept: java }, orderJson)
    t.match(replayed, { status: 201, headers: { 'idempotent-replayed': 'true', 'content-type': /^application\/json/ } })
    await send('POST', '/order', as('json'), '{"orderNumber":"PO-1","item":[{"productId":"ABC-1","quantity":1}]}')
    const repeated = await send('POST', '/order', as('xml', java), orderXml({ 'ABC-1': 1 }, '<order-number>PO-1</order-number>'))
    t.match(repeated, { status: 200, headers: { 'content-type': /^application\/xml/ } })
  })

  t.test('a notation by its other names is one too', async (t) => {
    const texts = { ...as('xml', java), 'content-type': 'text/xml; charset=utf-8' }
    t.equal(typeOf(await send('POST', '/order', texts, orderXml())), 'application/xml')
    const asked = await send('POST', '/order', { ...texts, accept: 'text/xml, application/json' }, orderXml())
    t.equal(typeOf(asked), 'text/xml', 'and is answered by the name that was asked for')
    const unread = await send('POST', '/order', { ...as('json', '*/*'), 'content-type': 'application/vnd.shop+json' }, orderJson)
    t.match(unread, { status: 415, headers: { 'content-type': 'application/problem+json' } })
  })

  t.test('a refused form of a machine is answered by Accept alone, one of a browser by a page', async (t) => {
    const body = 'item.1.product-id=ABC-1&item.1.quantity=0'
    for (const [accept, type] of [
      [undefined, 'application/problem+xml'],
      ['*/*', 'application/problem+xml'],
      ['application/json', 'application/problem+json'],
      ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html']
    ] as const) {
      const answer = await send('POST', '/order', { ...form, ...(accept === undefined ? {} : { accept }) }, body)
      t.equal(typeOf(answer), type, accept ?? '(none)')
    }
  })

  t.test('a request without a document is answered by Accept alone, whatever its Content-Type', async (t) => {
    for (const accept of ['*/*', undefined]) {
      t.equal(typeOf(await send('GET', '/product/ABC-1', as('json', accept))), 'application/xml')
      t.equal(typeOf(await send('GET', '/nothing', as('json', accept))), 'application/problem+xml')
    }
    t.equal(typeOf(await send('GET', '/product/ABC-1', as('xml', java))), 'text/html')
    const place = (await send('POST', '/order', as('xml'), orderXml())).headers['location'] ?? ''
    t.equal(typeOf(await send('DELETE', place, as('json', '*/*'))), 'application/xml')
  })

  t.test('nothing acceptable is 406 in it too, before anything is stored', async (t) => {
    const before = (await store.orders({ limit: 100 })).items.length
    for (const [notation, body] of [
      ['xml', orderXml()],
      ['json', orderJson]
    ] as const) {
      const answer = await send('POST', '/order', as(notation, 'image/png'), body)
      t.match(answer, { status: 406, headers: { 'content-type': `application/problem+${notation}` } })
    }
    t.equal((await store.orders({ limit: 100 })).items.length, before)
  })
})
