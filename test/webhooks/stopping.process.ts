import { randomBytes } from 'node:crypto'
import t from 'tap'
import { hashKey } from '../../http/credentials.ts'
import { openStore } from '../../stores/open.ts'
import { databaseUrl } from '../build.ts'
import { runServer } from '../run-server.ts'
import { startReceiver } from './receiver.ts'

t.test('a request that sends an event again is answered when the service stops, although the receiver never answers', async (t) => {
  const database = await databaseUrl(t)
  const key = `tp_${randomBytes(16).toString('hex')}`
  const store = await openStore(database, 'EUR')
  await store.createKey({ customer: 'ERP', scopes: ['order', 'fulfilment', 'catalogue'], hash: hashKey(key) })
  await store.close()
  const { base, end } = await runServer(t, { DATABASE_URL: database, WEBHOOK_ALLOW: '127.0.0.1', SHUTDOWN_DELAY: '0' })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' }
  const ask = async (method: string, path: string, content?: object) => {
    const answer = await fetch(new URL(path, base), { method, headers, ...(content && { body: JSON.stringify(content) }) })
    return { status: answer.status, path: answer.headers.get('location') ?? '', body: await answer.json() }
  }
  await ask('PUT', '/product/ABC-1', { name: 'Hex bolt', price: '9.99', unit: 'C62' })
  const { body: feed } = await ask('GET', '/events')
  const receiver = await startReceiver(t, () => {})
  const webhook = await ask('POST', '/webhooks', { url: receiver.url })
  t.equal(webhook.status, 201)
  const again = ask('POST', `${webhook.path}/deliveries`, { event: (feed as { event: { id: string }[] }).event[0]?.id })
  await Promise.race([receiver.count(1), again])
  t.equal(await end('SIGTERM'), 0)
  t.match(await again, { status: 200, body: { failure: 'The shop stopped before there was an answer.' } })
})
