import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { makeRequestReader } from '../../http/cacheable-request.ts'

const read = makeRequestReader({ TRUST_PROXY: ['10.0.0.1'], MAX_HEADERS: 10 })

function get(fields: readonly string[], { method = 'GET', url = '/products', minor = 1, from = '192.0.2.1' } = {}) {
  const request = { method, url, rawHeaders: fields, httpVersionMajor: 1, httpVersionMinor: minor, socket: { remoteAddress: from } }
  return read(request as unknown as IncomingMessage)
}
const host = ['Host', 'shop.example']

/** Equal requests have equal keys. */
function keyOf(request: ReturnType<typeof get>): string | undefined {
  return request && request.target + request.variant
}

t.test('the key has everything that the response depends on, and nothing else', async (t) => {
  const key = (...fields: string[]) => keyOf(get([...host, ...fields]))
  t.equal(key('User-Agent', 'curl', 'accept-language', 'de', 'Cache-Control', 'no-cache'), key())
  t.equal(key('Connection', 'keep-alive'), key())
  for (const field of [
    ['accept', 'text/html'],
    ['If-None-Match', '"x"']
  ] as const)
    t.not(key(...field), key())
  t.not(keyOf(get(['Host', 'other.example'])), key())
  t.not(keyOf(get(host, { url: '/product/a' })), key())
  t.not(keyOf(get(host, { method: 'HEAD' })), key())
})

t.test('a request with anything that is not understood is not cacheable', async (t) => {
  for (const field of [
    'authorization',
    'cookie',
    'range',
    'expect',
    'if-match',
    'if-modified-since',
    'content-length',
    'transfer-encoding',
    'prefer',
    'x-any',
    'HOST'
  ])
    t.equal(get([...host, field, '1']), undefined, field)
  t.equal(get([]), undefined, 'no Host')
  t.equal(get([...host, ...host]), undefined, 'a field that comes twice')
  t.equal(get([...host, 'connection', 'close']), undefined)
  t.equal(get(host, { method: 'POST' }), undefined)
  t.equal(get(host, { minor: 0 }), undefined)
  t.equal(get([...host, ...Array.from({ length: 10 }, () => ['dnt', '1']).flat()]), undefined, 'more than MAX_HEADERS')
})

t.test('long values are not cacheable', async (t) => {
  t.ok(get([...host, 'accept', 'a'.repeat(900), 'user-agent', 'a'.repeat(512), 'x-forwarded-for', 'a'.repeat(256)]))
  t.equal(get([...host, 'accept', 'a'.repeat(1_024)]), undefined)
  t.equal(get([...host, 'user-agent', 'a'.repeat(513)]), undefined)
  t.equal(get([...host, 'x-forwarded-for', 'a'.repeat(257)]), undefined)
})

t.test('only a trusted proxy chooses the request id, and the addresses that it names are part of the sender', async (t) => {
  const fields = [...host, 'x-request-id', 'chosen', 'x-forwarded-for', '198.51.100.1']
  t.match(get(fields, { from: '10.0.0.1' }), { requestId: 'chosen', client: '10.0.0.1 198.51.100.1' })
  t.match(get(fields), { requestId: undefined, client: '192.0.2.1 198.51.100.1' })
  t.not(keyOf(get(fields)), keyOf(get(fields, { from: '10.0.0.1' })))
})
