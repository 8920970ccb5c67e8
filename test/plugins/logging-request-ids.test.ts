import t from 'tap'
import { makeRequestIds } from '../../logging/request-ids.ts'
import { build } from '../build.ts'

t.test('only a trusted proxy chooses the request id, and only a well-formed one', async (t) => {
  const given = { 'x-request-id': 'edge-1:abc' }
  const open = await build(t)
  t.not((await open.app.inject({ url: '/', headers: given })).headers['x-request-id'], 'edge-1:abc')
  const { app } = await build(t, { settings: { TRUST_PROXY: '127.0.0.0/8' } })
  t.equal((await app.inject({ url: '/', headers: given })).headers['x-request-id'], 'edge-1:abc')
  t.not((await app.inject({ url: '/', headers: given, remoteAddress: '192.0.2.1' })).headers['x-request-id'], 'edge-1:abc')
  for (const mad of ['', 'a b', 'a"b', 'é', 'x'.repeat(129), '/order/1']) {
    t.not((await app.inject({ url: '/', headers: { 'x-request-id': mad } })).headers['x-request-id'], mad)
  }
})

t.test('proxies are named by address or network, in either version of IP', async (t) => {
  const nameOf = (proxies: readonly string[], remoteAddress: string) =>
    makeRequestIds(proxies)({ headers: { 'x-request-id': 'given' }, socket: { remoteAddress } } as unknown as Parameters<
      ReturnType<typeof makeRequestIds>
    >[0])
  t.equal(nameOf(['10.1.0.0/16'], '10.1.2.3'), 'given')
  t.not(nameOf(['10.1.0.0/16'], '10.2.2.3'), 'given')
  t.equal(nameOf(['192.0.2.7'], '::ffff:192.0.2.7'), 'given')
  t.equal(nameOf(['2001:db8::/32'], '2001:db8::1'), 'given')
  t.not(nameOf([], '127.0.0.1'), 'given')
})
