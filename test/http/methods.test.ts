import t from 'tap'
import { build, orderXml } from '../build.ts'
import { placing } from '../stores/fixtures.ts'
import { ask, listening, message } from './wire.ts'

t.test('methods', async (t) => {
  const { app, store, key } = await build(t)
  await listening(app)

  t.test('a method that a resource does not have is 405 with Allow (RFC 9110 15.5.6)', async (t) => {
    const rows: readonly [string, string, string][] = [
      ['PATCH', '/product/ABC-1', 'GET, HEAD, PUT, DELETE, OPTIONS'],
      ['POST', '/product/ABC-1', 'GET, HEAD, PUT, DELETE, OPTIONS'],
      ['PATCH', `/product/${'%C3%84'.repeat(200)}?a=%2F`, 'GET, HEAD, PUT, DELETE, OPTIONS'],
      ['DELETE', '/products', 'GET, HEAD, POST, OPTIONS'],
      ['PUT', '/orders', 'GET, HEAD, OPTIONS'],
      ['TRACE', '/products', 'GET, HEAD, POST, OPTIONS'],
      ['PROPFIND', '/', 'GET, HEAD, OPTIONS'],
      ['QUERY', '/products', 'GET, HEAD, POST, OPTIONS'],
      ['M-SEARCH', '/products', 'GET, HEAD, POST, OPTIONS']
    ]
    for (const [method, path, allow] of rows) {
      const answer = await ask(t, app, message(`${method} ${path}`))
      t.match(
        answer,
        { status: method === 'QUERY' ? /405|501/ : 405, headers: { 'content-type': 'application/problem+xml' } },
        `${method} ${path}`
      )
      if (answer.status === 405) t.equal(answer.headers['allow'], allow)
    }
  })

  t.test('a method that HTTP does not know, or in small letters, is 501 (RFC 9110 9.1)', async (t) => {
    for (const line of ['FOO /products', 'get /products', 'Get /products', 'GETS /products', 'CONNECT shop.example:80']) {
      const answer = await ask(t, app, message(line))
      t.match(
        answer,
        { status: 501, headers: { connection: 'close', 'content-type': 'application/problem+xml', 'cache-control': 'no-store' } },
        line
      )
      t.match(answer.body, 'not-implemented')
    }
  })

  t.test('OPTIONS answers 204 with Allow, and what POST reads (RFC 9110 9.3.7)', async (t) => {
    const answer = await ask(t, app, message('OPTIONS /order'))
    t.match(answer, {
      status: 204,
      body: '',
      headers: { allow: 'GET, HEAD, POST, OPTIONS', 'accept-post': /application\/xml, .*application\/json/ }
    })
    t.notOk('content-length' in answer.headers, 'a 204 has no Content-Length (RFC 9110 8.6)')
    t.match(await ask(t, app, message('OPTIONS /product/ABC-1')), { status: 204, headers: { allow: 'GET, HEAD, PUT, DELETE, OPTIONS' } })
    t.equal((await ask(t, app, message('OPTIONS /nothing'))).status, 404)
  })

  t.test('OPTIONS * is about the server (RFC 9110 9.3.7, RFC 9112 3.2.4)', async (t) => {
    t.match(await ask(t, app, message('OPTIONS *')), { status: 204, headers: { allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' } })
    for (const method of ['GET', 'POST', 'HEAD']) t.equal((await ask(t, app, message(`${method} *`))).status, 400, method)
  })

  t.test('an unknown path is 404 for every method, before its body is looked at', async (t) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      t.equal((await ask(t, app, message(`${method} /nothing`))).status, 404, method)
    }
    t.equal((await ask(t, app, message('POST /nothing', { 'content-type': 'application/xml' }, '<not well-formed'))).status, 404)
    t.equal((await ask(t, app, message('POST /nothing', { 'content-type': 'image/png' }, 'x'))).status, 404)
  })

  t.test('a body of a type that a route does not read is 415, and the answer says what it reads (RFC 9110 15.5.16)', async (t) => {
    const post = (type: string) => ask(t, app, message('POST /order', type === '' ? {} : { 'content-type': type }, '<x/>'))
    for (const type of [
      '',
      'image/png',
      'application/xml+x',
      'application',
      'text/plain',
      'application/xml; charset=iso-8859-1',
      'multipart/form-data; boundary=x'
    ]) {
      const answer = await post(type)
      t.match(
        answer,
        { status: 415, headers: { 'accept-post': /^application\/xml, text\/xml, application\/json/, connection: 'keep-alive' } },
        type
      )
      t.equal(answer.headers['accept'], answer.headers['accept-post'])
      if (!type.includes('charset')) t.match(answer.body, 'Send application/xml or text/xml or application/json', type)
    }
    const seller = await key('Seller', 'catalogue')
    const form = { ...seller, 'content-type': 'application/x-www-form-urlencoded' }
    // `curl -d` sends this type by default. Nothing is read, so the answer does not know which of the two it was.
    for (const body of ['<product/>', '{"name":"Nut"}'])
      t.match(await ask(t, app, message('PUT /product/NUT', form, body)), {
        status: 415,
        body: /curl.*application\/xml.*or.*application\/json/
      })
    for (const type of ['application/xml', 'APPLICATION/XML', 'text/xml;charset=UTF-8', 'application/xml; charset="utf-8"'])
      t.equal((await post(type)).status, 422, type)
    const coded = await ask(t, app, message('POST /order', { 'content-type': 'application/xml', 'content-encoding': 'gzip' }, '<x/>'))
    t.match(
      coded,
      { status: 415, headers: { 'accept-encoding': 'identity', accept: /xml/, 'accept-post': /xml/ } },
      'a content coding (RFC 9110 12.5.3)'
    )
  })

  t.test('the headers of a form post are checked like those of any other body', async (t) => {
    const form = 'application/x-www-form-urlencoded'
    const { order } = await store.placeOrder(placing('ABC-1'))
    const seller = await key('Seller', 'catalogue', 'fulfilment', 'order')
    for (const path of [`/order/${order.id}`, `/order/${order.id}/status`, '/product/ABC-1/stock', '/session']) {
      const post = (headers: Record<string, string>, body: string) => ask(t, app, message(`POST ${path}`, { ...seller, ...headers }, body))
      for (const headers of [
        { 'content-type': form, 'content-encoding': 'gzip' },
        { 'content-type': `${form}; charset=utf-16` },
        { 'content-type': `${form}; charset=iso-8859-1` },
        { 'content-type': 'application/xml' },
        { 'content-type': 'multipart/form-data; boundary=x' },
        {}
      ]) {
        const answer = await post(headers, '_method=DELETE')
        t.equal(answer.status, 415, `${path} ${JSON.stringify(headers)}`)
        t.equal(answer.headers['accept'], form)
        t.equal(answer.headers['accept-post'], form)
      }
      t.equal((await post({ 'content-type': `${form}; charset=UTF-8` }, '_method=NONE')).status === 415, false)
      t.equal((await ask(t, app, message(`OPTIONS ${path}`))).headers['accept-post'], form)
    }
    t.equal((await store.order(order.id)).status, 'accepted', 'nothing was carried out')
  })

  t.test('a trailing slash is another URI, where nothing is, for every method', async (t) => {
    const order = { 'content-type': 'application/xml' }
    for (const path of [
      '/order/',
      '/product/',
      '/schemas/',
      '/public/',
      '/problems/',
      '/order//status',
      '/product//stock',
      '/products/',
      '/orders/'
    ]) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const answer = await ask(
          t,
          app,
          message(`${method} ${path}`, order, method === 'POST' || method === 'PUT' ? orderXml() : undefined)
        )
        t.equal(answer.status, 404, `${method} ${path}`)
        if (method !== 'HEAD') t.match(answer.body, 'problems/not-found')
      }
    }
  })

  t.test('a Content-Type without content is not refused', async (t) => {
    t.equal((await ask(t, app, message('GET /products', { 'content-type': 'image/png' }))).status, 200)
    t.equal(
      (await ask(t, app, message('GET /products', { 'content-type': 'application/xml; charset=latin1' }, 'x'))).status,
      200,
      'nor content of a GET'
    )
    t.equal((await ask(t, app, message('DELETE /product/NOPE', { 'content-type': 'application/xml' }))).status, 401)
  })
})
