import type { IncomingMessage } from 'node:http'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { build } from '../build.ts'
import { listening, message, Wire } from '../http/wire.ts'

const skip = process.env['TEST_DATABASE_URL'] !== undefined && 'on PostgreSQL no response is stored'

async function serve(t: Test) {
  const { app } = await build(t)
  const { product } = app.store
  let reads = 0
  app.store.product = (id) => {
    reads++
    return product(id)
  }
  await listening(app)
  return { app, reads: () => reads }
}

t.test('a stored response keeps nothing of the request that it was made for in memory', { skip }, async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { app, reads } = await serve(t)
  const requests: WeakRef<IncomingMessage>[] = []
  app.server.prependListener('request', (request) => requests.push(new WeakRef(request)))
  // The first makes the request known, the second has its response stored, and the third is answered with it.
  for (let i = 0; i < 3; i++) {
    const wire = (await Wire.open(t, app)).send(message('GET /product/ABC-1', { referer: 'x'.repeat(10_000) }))
    t.equal((await wire.answer()).status, 200)
    wire.end()
    await wire.rest()
  }
  const kept = () => requests.filter((request) => request.deref()).length
  for (let i = 0; i < 100 && kept() > 0; i++) {
    await turnOfTheLoop()
    collect()
  }
  t.same([requests.length, kept()], [3, 0])
  t.equal(reads(), 2, 'the response was stored')
})

t.test('a response is not stored for a list of entity tags, of which a client could send a new one each time', { skip }, async (t) => {
  const { app, reads } = await serve(t)
  const wire = await Wire.open(t, app)
  const ask = async (tags: Readonly<Record<string, string>>) => (await wire.send(message('GET /product/ABC-1', tags)).answer()).status
  const { headers } = await wire.send(message('GET /product/ABC-1')).answer()
  const tag = String(headers['etag'])
  for (let i = 0; i < 3; i++) t.equal(await ask({ 'if-none-match': `"other", ${tag}` }), 304)
  const before = reads()
  t.equal(await ask({ 'if-none-match': `"other", ${tag}` }), 304)
  t.equal(reads(), before + 1)
})
