import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { build } from '../build.ts'
import { ask, Wire } from '../http/wire.ts'
import { item, nothingStored, order, type Refusal, refusals } from './refusal.ts'

const readable = /application\/xml, text\/xml, application\/json, application\/x-www-form-urlencoded/
const unsupported = (headers: Readonly<Record<string, string>>, detail: RegExp, body: string | Buffer = order()): Refusal => ({
  body,
  headers,
  code: 'unsupported-media-type',
  detail
})

t.test('a body of another media type, charset or coding', (t) =>
  refusals(t, {
    'a body without Content-Type': unsupported({}, /Content-Type/),
    'plain text': unsupported({ 'content-type': 'text/plain' }, /text\/plain/),
    YAML: unsupported({ 'content-type': 'application/yaml' }, /application\/yaml/),
    'a media type that only starts like one': unsupported({ 'content-type': 'application/xmlx' }, /application\/xmlx/),
    'another XML': unsupported({ 'content-type': 'application/soap+xml' }, /soap/),
    'a Content-Type that is none': unsupported({ 'content-type': 'xml' }, /xml/),
    'a charset of ISO-8859-1': unsupported({ 'content-type': 'application/xml; charset=ISO-8859-1' }, /ISO-8859-1.*UTF-8/),
    'a charset of UTF-16 in quotes': unsupported({ 'content-type': 'text/xml; a=b; charset="utf-16"' }, /utf-16.*UTF-8/),
    'a charset of Latin-1 for JSON': unsupported({ 'content-type': 'application/json;charset=latin1' }, /latin1/, '{}'),
    'a gzipped body': unsupported({ 'content-type': 'application/xml', 'content-encoding': 'gzip' }, /gzip/, gzipSync(order()))
  })
)

t.test('415 says in Accept-Post what is read (W3C LDP 7.1.2, RFC 9110 15.5.16)', async (t) => {
  const { app } = await build(t)
  const sent = [{ 'content-type': 'text/plain' }, { 'content-type': 'application/xml;charset=latin1' }, {}]
  for (const headers of sent) {
    const response = await app.inject({ method: 'POST', url: '/order', headers, payload: order() })
    t.equal(response.statusCode, 415)
    t.match(response.headers['accept-post'], readable, JSON.stringify(headers))
  }
})

t.test('a body that ends before it is complete stores nothing', async (t) => {
  const shop = await build(t)
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  const chunk = `${order().length.toString(16)}\r\n${order()}\r\n`
  const head = 'POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/xml\r\n'
  for (const request of [
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.slice(0, -20)}`,
    `${head}Content-Length: ${order().length + 1}\r\n\r\n${order()}`
  ]) {
    const wire = await Wire.open(t, shop.app)
    const answer = await wire.send(request).end().answer()
    t.equal(answer.status, 400)
    t.match(answer.body, /<problem xmlns="urn:ietf:rfc:7807">/)
    await nothingStored(t, shop)
  }
  const inFlight = async (count: number) => {
    while (!(await shop.app.metrics.read()).includes(`http_requests_in_flight ${count}\n`)) await sleep(10)
  }
  for (const request of [`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`, `${head}Content-Length: 5000\r\n\r\n${order()}`]) {
    const wire = await Wire.open(t, shop.app)
    wire.send(request)
    await inFlight(1)
    wire.abort()
    await inFlight(0)
  }
  await nothingStored(t, shop)
})

t.test('a body in chunks is read as one, split characters included', async (t) => {
  const shop = await build(t)
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  const bytes = Buffer.from(order(`<note>é😀</note>${item()}`))
  const chunks = [...bytes].map((byte) => Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]))
  const head = 'POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\n\r\n'
  const answer = await ask(t, shop.app, Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')]))
  t.equal(answer.status, 201, answer.body)
  t.match(answer.body, /<note>é😀<\/note>/)
})

t.test('no document makes the service open a connection', async (t) => {
  const { app } = await build(t)
  const visits: unknown[] = []
  const server = createServer((socket) => {
    visits.push(socket)
    socket.destroy()
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/a`
  const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
  for (const body of [
    `<!DOCTYPE purchase-order SYSTEM "${url}">${order()}`,
    `<!DOCTYPE a [<!ENTITY b SYSTEM "${url}">]>${order('<note>&b;</note>')}`,
    `<?xml-stylesheet href="${url}"?><?xml-model href="${url}"?>${order()}`,
    `<purchase-order ${xsi} xsi:noNamespaceSchemaLocation="${url}">${item()}</purchase-order>`,
    `<purchase-order ${xsi} xsi:schemaLocation="urn:x ${url}" xmlns="urn:x"/>`,
    order(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="${url}"/>${item()}`)
  ]) {
    await app.inject({ method: 'POST', url: '/order', headers: { 'content-type': 'application/xml' }, payload: body })
  }
  t.same(visits, [])
})
