import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../build.ts'
import { ask, listening, message, Wire } from '../http/wire.ts'

/** More than the system takes for a reader that reads nothing. */
const large = 24 * 1024 * 1024

async function serveLarge(t: Test, settings: Readonly<Record<string, string>>) {
  const { app } = await build(t, { settings })
  app.get('/large', async (_request, reply) => reply.send(Buffer.alloc(large, 'x')))
  await listening(app)
  return app
}

t.test('a client that reads nothing of a response for SEND_TIMEOUT is cut off; one that reads slowly is not', async (t) => {
  const app = await serveLarge(t, { SEND_TIMEOUT: '2' })
  const open = () => [...app.connections.open].length
  const deaf = await Wire.open(t, app)
  deaf.pause().send(message('GET /large'))
  const slow = await Wire.open(t, app)
  slow.send(message('GET /large'))
  while (open() > 1) {
    slow.resume()
    await setImmediate()
    slow.pause()
    await pause(50)
  }
  t.equal((await slow.resume().answer()).body.length, large)
})

t.test('unsent responses are bounded: the address with most of them gets 503, until clients that read nothing are cut off', async (t) => {
  const app = await serveLarge(t, { SEND_TIMEOUT: '600' })
  const waiting = () => [...app.connections.open].filter(({ socket }) => socket.writableLength > 0).length
  for (let i = 1; i <= 2; i++) {
    const deaf = await Wire.open(t, app)
    deaf.pause().send(message('GET /large'))
    while (waiting() < i) await pause(10)
  }
  const unread = [...app.connections.open].map(({ socket }) => socket)
  t.match(await ask(t, app, message('GET /large')), { status: 503, headers: { 'retry-after': '5' } })
  t.equal((await ask(t, app, message('GET /product/ABC-1'))).status, 200)
  while ((await ask(t, app, message('GET /large'))).status === 503) await pause(500)
  t.ok(
    unread.some(({ destroyed }) => destroyed),
    'one of them was cut off'
  )
})
