import type { IncomingMessage } from 'node:http'
import t from 'tap'
import type { CacheableRequest } from '../../http/cacheable-request.ts'
import { KnownHeads } from '../../http/known-heads.ts'

const request: CacheableRequest = {
  target: 'GET /products',
  variant: '+variant',
  client: 'c',
  requestId: undefined,
  userAgent: 'curl',
  receivedAt: 0
}
const sender = { client: 'c', userAgent: 'curl', ip: '192.0.2.1', network: '192.0.2.1' }
const address = '192.0.2.1'

function remembering(rawHeaders: readonly string[]): KnownHeads {
  const heads = new KnownHeads()
  heads.remember({ rawHeaders, socket: { remoteAddress: address } } as unknown as IncomingMessage, request, sender)
  return heads
}

const known = remembering(['Host', 'shop.example', 'accept', '*/*'])
const section = 'Host: shop.example\r\naccept: */*\r\n\r\n'
const read = (text: string, from = address) => known.read(from, Buffer.from(text, 'latin1'))

t.test('a known header section is understood, whatever the target', async (t) => {
  t.same(read(`GET /products HTTP/1.1\r\n${section}`), { key: 'GET /products+variant', sender })
  t.same(read(`HEAD /product/caf\xe9?a=b HTTP/1.1\r\n${section}`), { key: 'HEAD /product/caf\xe9?a=b+variant', sender })
})

t.test('anything else is left to the parser', async (t) => {
  for (const text of [
    '',
    section,
    `GET / HTTP/1.0\r\n${section}`,
    `GET / HTTP/1.1\n${section}`,
    `GET / HTTP/1.1\r\n${section.slice(0, -2)}`,
    `GET / HTTP/1.1\r\n${section}x`,
    `GET / HTTP/1.1\r\n${section}GET / HTTP/1.1\r\n${section}`,
    'GET / HTTP/1.1\r\nhost: shop.example\r\naccept: */*\r\n\r\n',
    'GET / HTTP/1.1\r\nHost:  shop.example\r\naccept: */*\r\n\r\n',
    'GET / HTTP/1.1\r\naccept: */*\r\nHost: shop.example\r\n\r\n'
  ]) {
    t.equal(read(text), undefined, JSON.stringify(text))
  }
  t.equal(read(`GET / HTTP/1.1\r\n${section}`, '192.0.2.2'), undefined, 'another address')
})

t.test('a section of 2 KiB is remembered, and a longer one is not', async (t) => {
  for (const [length, isKnown] of [
    [1_900, true],
    [2_100, false]
  ] as const) {
    const long = 'a'.repeat(length)
    const heads = remembering(['Host', long])
    t.equal(heads.read(address, Buffer.from(`GET / HTTP/1.1\r\nHost: ${long}\r\n\r\n`)) !== undefined, isKnown)
  }
})

t.test('a section with an id from a trusted proxy is not remembered', async (t) => {
  const heads = new KnownHeads()
  const rawHeaders = ['Host', 'a', 'X-Request-Id', 'one']
  heads.remember({ rawHeaders, socket: { remoteAddress: address } } as unknown as IncomingMessage, { ...request, requestId: 'one' }, sender)
  t.equal(heads.read(address, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: one\r\n\r\n')), undefined)
})

t.test('the least recently used sections make room for others', async (t) => {
  const heads = remembering(['Host', 'first'])
  const other = (n: number) => ({ rawHeaders: ['Host', `${n}${'a'.repeat(1_500)}`], socket: { remoteAddress: address } })
  for (let n = 0; n < 3_000; n++) heads.remember(other(n) as unknown as IncomingMessage, request, sender)
  t.equal(heads.read(address, Buffer.from('GET / HTTP/1.1\r\nHost: first\r\n\r\n')), undefined)
  t.ok(heads.read(address, Buffer.from(`GET / HTTP/1.1\r\nHost: 2999${'a'.repeat(1_500)}\r\n\r\n`)))
})
