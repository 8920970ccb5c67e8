import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { commonHeaders } from '../../http/security-headers.ts'
import { build, orderXml, type Shop } from '../build.ts'
import { ask, listening, message, Wire } from '../http/wire.ts'

const head = 'POST /order HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/xml\r\n'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const orders = async ({ store }: Shop) => (await store.orders({ limit: 1000 })).items.length

t.test('framing', async (t) => {
  const shop = await build(t, { settings: { BODY_LIMIT: '65536' } })
  const { app } = shop
  await listening(app)

  /** Each is answered with a problem and the end of the connection: where the next request would start is not known. */
  async function refused(t: Parameters<typeof build>[0], request: string, status = 400) {
    const wire = await Wire.open(t, app)
    const answer = await wire.send(request).answer()
    const label = JSON.stringify(request.slice(0, 150))
    t.match(
      answer,
      { status, headers: { 'content-type': 'application/problem+xml', 'cache-control': 'no-store', connection: 'close' } },
      label
    )
    t.match(answer.headers['date'], /GMT$/)
    t.match(answer.body, '<problem xmlns="urn:ietf:rfc:7807">')
    t.equal(await wire.rest(), '', 'nothing follows')
  }

  t.test('a request has exactly one valid Host (RFC 9112 3.2)', async (t) => {
    for (const host of [
      '',
      'Host: a\r\nHost: a\r\n',
      'Host: a\r\nHost: b\r\n',
      'Host: a b\r\n',
      'Host: a/b\r\n',
      'Host: user@a\r\n',
      'Host: a:b\r\n',
      'Host: [::1\r\n',
      'Host: %zz\r\n',
      'Host:\r\n',
      'Host: "a"\r\n',
      'Host: a?x\r\n'
    ]) {
      await refused(t, `GET /products HTTP/1.1\r\n${host}\r\n`)
    }
    for (const host of ['a', 'shop.example:8080', '127.0.0.1:1', '[::1]:3000', 'a_b', 'xn--bcher-kva.example', 'a:', '%41']) {
      t.equal((await ask(t, app, `GET /products HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status, 200, host)
    }
  })

  t.test('Content-Length with Transfer-Encoding, or two lengths, are refused, not guessed (RFC 9112 6.3)', async (t) => {
    const end = '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
    await refused(t, `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${end}`)
    await refused(t, `${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${end}`)
    for (const lengths of [
      'Content-Length: 4\r\nContent-Length: 5',
      'Content-Length: 4\r\nContent-Length: 4',
      'Content-Length: 4, 4',
      'Content-Length: +4',
      'Content-Length: -4',
      'Content-Length: 0x4',
      'Content-Length: 4.0',
      'Content-Length: 4 4',
      'Content-Length: ',
      `Content-Length: ${'9'.repeat(30)}`
    ]) {
      await refused(t, `${head}${lengths}\r\n\r\nabcd`)
    }
  })

  t.test('a transfer coding other than chunked is 501, and one that leaves the end unknown 400 (RFC 9112 6.1, 7)', async (t) => {
    for (const coding of ['gzip, chunked', 'deflate,chunked']) await refused(t, `${head}Transfer-Encoding: ${coding}\r\n\r\n${end()}`, 501)
    for (const coding of ['', 'identity', 'chunked, chunked', 'chunked, gzip', 'gzip', 'xchunked', '"chunked"'])
      await refused(t, `${head}Transfer-Encoding: ${coding}\r\n\r\n${end()}`)
    await refused(t, `${head.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n${end()}`)
    t.equal(
      (await ask(t, app, `${head}Transfer-Encoding: Chunked\r\n\r\n${chunk(orderXml())}${end()}`)).status,
      201,
      'codings have no case'
    )
    function end() {
      return '0\r\n\r\n'
    }
  })

  t.test('a refusal after the header section has the form that the request asks for', async (t) => {
    for (const [fields, type] of [
      ['Accept: application/json', 'application/problem+json'],
      ['Accept: text/html', 'text/html; charset=utf-8'],
      ['Accept: image/png', 'application/problem+xml']
    ]) {
      const answer = await ask(t, app, `${head}${fields}\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n`)
      t.match(answer, { status: 400, headers: { 'content-type': type, vary: 'Accept' }, body: /no valid size/ })
      t.match(answer.headers, commonHeaders, 'as every response')
      t.equal('content-security-policy' in answer.headers, type?.startsWith('text/html'), 'a page is protected')
    }
    const json = await ask(t, app, `${head.replace('xml', 'json')}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`)
    t.match(json.headers, { 'content-type': 'application/problem+json' }, 'as the document that was sent')
    t.equal(JSON.parse(json.body).instance, '/order')
  })

  t.test('broken chunks are refused and nothing is stored (RFC 9112 7.1)', async (t) => {
    const before = await orders(shop)
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`
    const whole = chunk(orderXml())
    for (const body of [
      'xyz\r\n',
      '-1\r\n',
      '0x5\r\n',
      ' 5\r\n',
      `${'F'.repeat(17)}\r\n`,
      '5\r\nabc\r\n0\r\n\r\n',
      `${whole}5`.concat('\n'),
      '5\nabcde\r\n',
      `${whole}G\r\n`,
      `1;${'a'.repeat(20_000)}\r\n`
    ]) {
      await refused(t, `${chunked}${body}`)
    }
    t.equal(await orders(shop), before)
    const trailers = await ask(t, app, `${chunked}${whole}0\r\nIdempotency-Key: trailing\r\nHost: b\r\n\r\n`)
    t.equal(trailers.status, 201, 'fields after the last chunk are ignored')
  })

  t.test('the detail of a refusal by the parser says what is wrong', async (t) => {
    const get = (line: string) => `GET /products HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`
    const rows: readonly [string, string][] = [
      ['GET /\x01 HTTP/1.1\r\n\r\n', 'must be percent-encoded'],
      ['GET products HTTP/1.1\r\n\r\n', 'it is not a path'],
      ['GET /products HTTP/1.1 x\r\n\r\n', 'does not end with HTTP/1.1'],
      ['GET /pro ducts HTTP/1.1\r\n\r\n', 'does not end with HTTP/1.1'],
      [get('Accept : text/html'), 'white space before the colon'],
      [get('Accept: a,\r\n b'), 'goes on in the next line'],
      [get('Content-Length: 0x4'), 'The Content-Length is not one whole number'],
      [get('Content-Length: 4\r\nContent-Length: 5'), 'The Content-Length occurs twice'],
      [get('Content-Length: 4\r\nTransfer-Encoding: chunked'), 'cannot be combined with Content-Length'],
      [get('Transfer-Encoding: chunked\r\nContent-Length: 4'), 'stands beside a Transfer-Encoding'],
      [`${head}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`, 'A chunk of the body has no valid size'],
      [`${head}Transfer-Encoding: chunked\r\n\r\n5\nabcde`, 'cannot be read as HTTP/1.1']
    ]
    for (const [request, detail] of rows) {
      const wire = await Wire.open(t, app)
      t.match(await wire.send(request).answer(), { status: 400, body: detail }, JSON.stringify(request))
    }
    const cut = await Wire.open(t, app)
    const answer = await cut.send(`${head}Content-Length: 1000\r\n\r\n${orderXml()}`).end().answer()
    t.match(answer, { status: 400, body: 'closed before the whole request had arrived' })
    const long = await Wire.open(t, app)
    t.match(await long.send(`GET /${'a'.repeat(70_000)} HTTP/1.1\r\n`).answer(), { status: 414, body: /longer than \d+ bytes/ })
  })

  t.test('a body that breaks off is refused and nothing is stored (RFC 9112 8)', async (t) => {
    const before = await orders(shop)
    for (const request of [
      `${head}Transfer-Encoding: chunked\r\n\r\n${chunk(orderXml())}`,
      `${head}Transfer-Encoding: chunked\r\n\r\nff\r\nabc`,
      `${head}Content-Length: 1000\r\n\r\n${orderXml()}`
    ]) {
      const wire = await Wire.open(t, app)
      t.match(await wire.send(request).end().answer(), { status: 400, headers: { connection: 'close' } })
      const gone = await Wire.open(t, app)
      gone.send(request).abort()
    }
    t.equal((await ask(t, app, message('GET /products'))).status, 200)
    t.equal(await orders(shop), before)
  })

  t.test('header lines are refused rather than mended: folded, spaced, with control characters (RFC 9112 5)', async (t) => {
    for (const line of [
      'Accept: text/html,\r\n application/json',
      'Accept : text/html',
      ' Accept: text/html',
      'Acc ept: text/html',
      'Accept',
      ': text/html',
      'Accept: a\rb',
      'Accept: a\0b',
      'Accept: a\x07b',
      'Acc\xe9pt: a',
      'Accept: a\nX: b'
    ]) {
      await refused(t, `GET /products HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`)
    }
    for (const field of [
      'Content-Type: application/xml\r\nContent-Type: application/json',
      'Authorization: Bearer a\r\nAuthorization: Bearer b'
    ]) {
      await refused(t, `GET /products HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`)
    }
  })

  t.test('a malformed request line is 400, and another version of HTTP 505 (RFC 9112 2.2, 3; RFC 9110 15.6.6)', async (t) => {
    for (const line of [
      'GET',
      'GET\t/products HTTP/1.1',
      'GET /pro ducts HTTP/1.1',
      'GET /products HTTP/1.1 x',
      'GET /products http/1.1',
      'GET /products HTTP/1',
      'GET /products HTTP/11',
      'GET /products FTP/1.1',
      '\x16\x03\x01\x02\x00\x01\x00'
    ]) {
      await refused(t, `${line}\r\nHost: a\r\n\r\n`)
    }
    await refused(t, 'GET /products HTTP/1.1\nHost: a\n\n')
    for (const version of ['2.0', '3.0', '1.2', '0.9']) await refused(t, `GET /products HTTP/${version}\r\nHost: a\r\n\r\n`, 505)
    await refused(t, 'GET /products\r\n\r\n', 505)
    await refused(t, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505)
    t.equal(
      (await ask(t, app, '\r\nGET /products HTTP/1.1\r\nHost: a\r\n\r\n')).status,
      200,
      'an empty line before it is skipped (RFC 9112 2.2)'
    )
  })
})

t.test('a large answer is sent as a whole before a CONNECT behind it is refused', async (t) => {
  const products = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`P-${i}`, { name: 'x'.repeat(200) }]))
  const { app } = await build(t, { products })
  await listening(app)
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => client.destroy())
  client.write(`${message('GET /catalogue')}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
  t.match(await text(client), /<\/catalogue>[\s\S]*HTTP\/1\.1 501 /)
})
