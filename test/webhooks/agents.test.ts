import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls'
import t, { type Test } from 'tap'
import { expectAnswer, makeAgents } from '../../webhooks/agents.ts'
import { until } from '../until.ts'

/** The key and the certificate of a receiver on this machine. */
function makeCertificate(t: Test, more = '') {
  const folder = t.testdir()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', `subjectAltName=IP:127.0.0.1${more}`]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', ['req', '-x509', ...curve, '-nodes', '-days', '2', ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

/** A receiver, and requests to it. @param serve is called for each request, with a plain socket if `tls` is undefined */
async function receive(t: Test, serve: (socket: TLSSocket) => void, tls?: TlsOptions & { readonly cert: Buffer }) {
  let connections = 0
  const take = (socket: Socket) => {
    connections++
    t.teardown(() => socket.destroy())
    // A request ends with its body.
    socket.on('error', () => {}).on('data', (bytes: Buffer) => String(bytes).endsWith('{}') && serve(socket as TLSSocket))
  }
  const server = tls ? createServer(tls, take) : createPlainServer({ allowHalfOpen: true }, take)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agents = makeAgents((_hostname, _options, callback) => callback(null, '127.0.0.1', 4), 4, tls?.cert)
  t.teardown(() => {
    for (const agent of Object.values(agents)) agent.destroy()
    server.close()
  })
  const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, method: 'POST' }
  async function post(): Promise<number | undefined> {
    const request = tls ? httpsRequest({ ...target, agent: agents.https }) : httpRequest({ ...target, agent: agents.http })
    request.on('socket', (connection) => expectAnswer(connection, 'ERP'))
    request.end('{}')
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    for await (const _ of answer);
    return answer.statusCode
  }
  const open = () => Object.values(agents).flatMap(({ sockets }) => Object.values(sockets).flat()).length
  const idle = () => Object.values(agents).flatMap(({ freeSockets }) => Object.values(freeSockets).flat()).length
  return { post, connections: () => connections, open, idle }
}

t.test('a connection is used again, also one of TLS', async (t) => {
  for (const tls of [undefined, makeCertificate(t)]) {
    const answers = ['HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n']
    const { post, connections } = await receive(t, (socket) => socket.write(answers.shift() ?? ''), tls)
    t.equal(await post(), 204)
    await new Promise(setImmediate)
    t.equal(await post(), 200)
    t.equal(connections(), 1)
  }
})

t.test('a connection whose answer says that it is the last is closed, although the receiver keeps its side open', async (t) => {
  for (const tls of [undefined, makeCertificate(t)]) {
    const last = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'
    const { post, open } = await receive(t, (socket) => socket.write(last), tls && { ...tls, allowHalfOpen: true })
    t.equal(await post(), 200)
    while (open() > 0) await new Promise(setImmediate)
  }
})

t.test('an answer in records of TLS with one byte each is given up, with all that TLS adds to it', async (t) => {
  const { post } = await receive(
    t,
    (socket) => {
      const send = () => socket.write('a', (error) => error || setImmediate(send))
      socket.write('HTTP/1.1 200 OK\r\nx: ', send)
    },
    makeCertificate(t)
  )
  await t.rejects(post(), { message: 'The receiver sent more than 64 KiB.' })
})

t.test('a long certificate is refused before it is verified', async (t) => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `,DNS:name-${i}.example.org`).join('')
  for (const [count, isTaken] of [
    [400, true],
    [900, false]
  ] as const) {
    const { post } = await receive(t, (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'), makeCertificate(t, names(count)))
    if (isTaken) t.equal(await post(), 204)
    else await t.rejects(post(), { message: 'The receiver sent more than 16 KiB.' })
  }
})

t.test('a receiver cannot ask for another handshake of TLS', async (t) => {
  const answer = 'HTTP/1.1 204 No Content\r\n\r\n'
  const tls = { ...makeCertificate(t), maxVersion: 'TLSv1.2' } as const
  let asks = false
  const serve = (socket: TLSSocket) => {
    if (asks) socket.renegotiate({}, (error) => error || socket.write(answer))
    else socket.write(answer)
  }
  const { post } = await receive(t, serve, tls)
  t.equal(await post(), 204, 'without it there is an answer')
  asks = true
  await t.rejects(post())
})

t.test('of the connections without a request, only a few stay open', async (t) => {
  for (const tls of [undefined, makeCertificate(t)]) {
    const { post, connections, open, idle } = await receive(t, (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'), tls)
    await Promise.all(Array.from({ length: 6 }, post))
    await until(() => open() === 0, 'every request has ended')
    t.equal(idle(), 4)
    t.equal(await post(), 204)
    t.equal(connections(), 6, 'which are used again')
  }
})
