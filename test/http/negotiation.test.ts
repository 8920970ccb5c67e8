import t from 'tap'
import { build, orderXml } from '../build.ts'
import { ask, listening, message } from './wire.ts'

t.test('content negotiation', async (t) => {
  const { app, store } = await build(t)
  await listening(app)
  const get = (path: string, accept?: string | readonly string[]) =>
    ask(t, app, message(`GET ${path}`, accept === undefined ? {} : { accept }))

  t.test('one URI, three representations: a machine gets XML, a browser HTML (RFC 9110 12.1)', async (t) => {
    const rows: readonly [string | readonly string[] | undefined, string, string][] = [
      [undefined, 'application/xml; charset=utf-8', '<?xml'],
      ['*/*', 'application/xml; charset=utf-8', '<?xml'],
      ['text/xml', 'text/xml; charset=utf-8', '<?xml'],
      ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8', '<!doctype html>'],
      ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'text/html; charset=utf-8', '<!doctype html>'],
      ['application/json', 'application/json; charset=utf-8', '{'],
      [['application/json;q=0.5', 'text/html;q=0.4'], 'application/json; charset=utf-8', '{']
    ]
    for (const path of ['/', '/products', '/product/ABC-1', '/product/ABC-1/stock', '/order', '/problems/not-found']) {
      for (const [accept, contentType, start] of rows) {
        const answer = await get(path, accept)
        t.equal(answer.headers['content-type'], contentType, `${path} ${accept}`)
        t.equal(answer.body.trimStart().slice(0, start.length), start)
      }
    }
  })

  t.test('each representation links the others, by the URI that it has (RFC 8288 3)', async (t) => {
    const links = async (path: string, accept: string) => (await get(path, accept)).headers['link']
    t.equal(
      await links('/product/ABC-1', 'application/xml'),
      '</product/ABC-1>; rel="alternate"; type="text/html", </product/ABC-1>; rel="alternate"; type="application/json", </schemas/product.xsd>; rel="describedby"; type="application/xml"'
    )
    t.match(
      await links('/product/ABC-1', 'text/html'),
      '</product/ABC-1>; rel="alternate"; type="application/xml", </product/ABC-1>; rel="alternate"; type="application/json"'
    )
  })

  t.test('nothing acceptable is 406 with what there is, as a problem (RFC 9110 15.5.7)', async (t) => {
    const answer = await get('/product/ABC-1', 'image/png')
    t.match(answer, { status: 406, headers: { 'content-type': 'application/problem+xml', vary: 'Accept' } })
    for (const type of ['application/xml', 'text/html', 'application/json']) t.match(answer.body, `<i>${type}</i>`)
  })

  t.test('nothing acceptable on a write is 406 before anything is stored, or the body is read', async (t) => {
    for (const body of [orderXml(), '<not well-formed']) {
      t.equal((await ask(t, app, message('POST /order', { 'content-type': 'application/xml', accept: 'image/png' }, body))).status, 406)
    }
    t.equal((await store.orders({ limit: 10 })).items.length, 0)
    t.equal((await store.stock('ABC-1')).onHand, '100')
  })

  t.test('a problem comes in the best of its own three forms, XML when none fits (RFC 9457 3, 4)', async (t) => {
    const rows: readonly [string | undefined, string][] = [
      [undefined, 'application/problem+xml'],
      ['application/xml', 'application/problem+xml'],
      ['text/xml', 'application/problem+xml'],
      ['application/json', 'application/problem+json'],
      ['application/problem+json', 'application/problem+json'],
      ['application/x-ndjson', 'application/problem+json'],
      ['application/json, application/problem+xml;q=0.9', 'application/problem+json'],
      ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
      ['text/csv', 'application/problem+xml'],
      ['text/*', 'text/html; charset=utf-8'],
      ['text/*, text/xml', 'application/problem+xml'],
      ['text/*;q=0.5, application/problem+json;q=0.4', 'text/html; charset=utf-8'],
      ['*/*;q=0', 'application/problem+xml']
    ]
    for (const [accept, contentType] of rows) {
      const answer = await get('/nothing', accept)
      t.match(answer, { status: 404, headers: { 'content-type': contentType } }, accept ?? '(none)')
    }
  })

  t.test('the answer to a write is negotiated too', async (t) => {
    const answer = await ask(t, app, message('POST /order', { 'content-type': 'application/xml', accept: 'application/json' }, orderXml()))
    t.match(answer, { status: 201, headers: { 'content-type': 'application/json; charset=utf-8' } })
    t.equal(JSON.parse(answer.body).status, 'accepted')
    const path = answer.headers['location'] ?? ''
    t.equal(answer.headers['content-location'], path, 'and says whose representation it is (RFC 9110 8.7)')
    t.match(answer.headers['link'], `<${path}>; rel="alternate"; type="application/xml"`)
  })
})

t.test('security headers: on everything what matters for any body, on pages what matters for a window', async (t) => {
  const { app } = await build(t)
  for (const [accept, isPage] of [
    ['application/xml', false],
    ['application/json', false],
    ['text/html', true]
  ] as const) {
    for (const url of ['/products', '/nothing', '/order']) {
      const { headers } = await app.inject({ url, headers: { accept } })
      t.match(headers, {
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin'
      })
      t.equal('content-security-policy' in headers, isPage, `${url} as ${accept}`)
      t.equal('cross-origin-opener-policy' in headers, isPage)
      for (const name of [
        'x-dns-prefetch-control',
        'x-download-options',
        'x-permitted-cross-domain-policies',
        'x-xss-protection',
        'origin-agent-cluster',
        'strict-transport-security',
        'x-powered-by',
        'server'
      ]) {
        t.notOk(name in headers, name)
      }
    }
  }
  const policy = String((await app.inject({ url: '/products', headers: { accept: 'text/html' } })).headers['content-security-policy'])
  t.match(policy, /default-src 'none'.*frame-ancestors 'none'/)
  t.notMatch(policy, /unsafe/)
})
