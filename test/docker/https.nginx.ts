import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build } from '../build.ts'
import { send, startNginx } from './nginx.ts'

/** Makes a folder with a self-signed certificate and its key. */
function makeCertificates(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tradepost-certificates-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const files = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', ...files], {
    stdio: 'ignore'
  })
  return folder
}

async function get(port: number, path: string): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response
}

t.test('https ends at the proxy: the service knows of it, and browsers keep to it (RFC 6797)', async (t) => {
  const { app } = await build(t, { settings: { TRUST_PROXY: '127.0.0.1' } })
  const protocols: string[] = []
  app.addHook('onRequest', async ({ protocol }) => {
    protocols.push(protocol)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port, httpsPort } = await startNginx(t, [(app.server.address() as AddressInfo).port], { certificates: makeCertificates(t) })
  for (const [path, status] of [
    ['/product/ABC-1', 200],
    ['/order', 200],
    ['/product/a%2Fb', 404],
    ['/health/live', 404]
  ] as const) {
    const { statusCode, headers } = await get(httpsPort, path)
    t.match({ statusCode, headers }, { statusCode: status, headers: { 'strict-transport-security': /^max-age=\d+$/ } }, path)
  }
  t.same(protocols, ['https', 'https', 'https'])

  const answer = await send(port, '/product/a%2Fb?x=%20', { method: 'POST', headers: { host: 'shop.example:8080' } })
  t.match(answer, { status: 308, headers: { location: 'https://shop.example/product/a%2Fb?x=%20' } }, 'plain http is sent there')
  t.notOk(answer.headers['strict-transport-security'], 'which says so only where it is safe (section 7.2)')
  t.equal(protocols.length, 3, 'and is not answered otherwise')
})
