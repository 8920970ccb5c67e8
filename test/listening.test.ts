import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import Fastify from 'fastify'
import t from 'tap'
import { checkPort, ListenError, listen } from '../listening.ts'
import { freePort } from './free-port.ts'

t.test('a port that was opened is returned as a URL', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const address = await listen(app, { host: '127.0.0.1', port: 0, setting: 'PORT' }, String)
  t.match(address, /^http:\/\/127\.0\.0\.1:\d+$/)
  t.equal((await fetch(address)).status, 404)
})

t.test('a port that is checked is free again, also when a client has connected meanwhile', async (t) => {
  const port = await freePort()
  const place = { host: '127.0.0.1', port, setting: 'PORT' } as const
  const checked = checkPort(place)
  const client = connect(port, '127.0.0.1').on('error', () => undefined)
  t.teardown(() => client.destroy())
  await checked
  const app = Fastify()
  t.teardown(() => app.close())
  t.equal(await listen(app, place, String), `http://127.0.0.1:${port}`)
})

t.test('the error for a port that cannot be opened is one line: which port, why, and what to set', async (t) => {
  const busy = createServer().listen(0, '127.0.0.1')
  t.teardown(() => busy.close())
  await once(busy, 'listening')
  const { port } = busy.address() as AddressInfo
  const taken = `127.0.0.1:${port} is in use: another process listens there. End that one, or choose another port, such as`
  const cases: readonly (readonly [place: Parameters<typeof listen>[1], said: string | RegExp])[] = [
    [{ host: '127.0.0.1', port, setting: 'PORT' }, taken],
    [{ host: '127.0.0.1', port, setting: 'OPS_PORT' }, /, such as OPS_PORT=\d+\.$/],
    [
      { host: '192.0.2.1', port: 0, setting: 'PORT' },
      /^192\.0\.2\.1:0 cannot be opened: this machine does not have the address 192\.0\.2\.1\. Set HOST/
    ],
    [{ host: '2001:db8::1', port: 0, setting: 'PORT' }, /^\[2001:db8::1\]:0 cannot be opened: /],
    [
      { host: 'no-such-host.invalid', port: 0, setting: 'PORT' },
      /^no-such-host\.invalid:0 cannot be opened: the name no-such-host\.invalid has no address/
    ]
  ]
  for (const [place, said] of cases) {
    const app = Fastify()
    const messages: string[] = []
    for (const open of [() => listen(app, place, String), () => checkPort(place)]) {
      const error = await open().then(
        () => undefined,
        (error: unknown) => error
      )
      t.ok(error instanceof ListenError, place.host)
      messages.push((error as ListenError).message)
    }
    await app.close()
    const [message = '', checked] = messages
    t.match(message, said)
    t.notMatch(message, '\n')
    t.equal(checked, message)
  }
})

t.test('the error for a port that this user may not open names another one to choose', async (t) => {
  const refused = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' })
  const app = Fastify()
  t.teardown(() => app.close())
  // The refusal is simulated, because root may open every port.
  app.listen = (() => Promise.reject(refused)) as unknown as typeof app.listen
  await t.rejects(listen(app, { host: '127.0.0.1', port: 80, setting: 'PORT' }, String), {
    message: '127.0.0.1:80 may not be opened: this user has no right to use port 80. Choose another port, such as PORT=8080.'
  })
})
