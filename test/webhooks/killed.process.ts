import { randomBytes } from 'node:crypto'
import { Webhook as Verifier } from 'standardwebhooks'
import t from 'tap'
import { hashKey } from '../../http/credentials.ts'
import { openStore } from '../../stores/open.ts'
import { databaseUrl, draft, orderXml, xml } from '../build.ts'
import { runServer } from '../run-server.ts'
import { type Received, startReceiver } from './receiver.ts'

/** On PostgreSQL a killed replica's webhooks are taken over when its claims end, which takes half a minute. */
const rounds = process.env['TEST_DATABASE_URL'] === undefined ? 6 : 2

/** Customers that place orders at the same time. */
const writers = 8

async function placeUntilKilled(base: string, headers: Record<string, string>): Promise<number> {
  let placed = 0
  const write = async () => {
    for (;;) {
      const answer = await fetch(`${base}/order`, { method: 'POST', headers: { ...xml, ...headers }, body: orderXml() })
      await answer.text()
      if (answer.status === 201) placed++
    }
  }
  await Promise.allSettled(Array.from({ length: writers }, write))
  return placed
}

/** The ids of all events of orders, in the order of the feed. */
async function feed(base: string, headers: Record<string, string>): Promise<string[]> {
  const ids: string[] = []
  for (let url = '/events?type=order-placed&limit=1000'; ; ) {
    const page = (await (await fetch(`${base}${url}`, { headers: { ...headers, accept: 'application/json' } })).json()) as {
      event: { id: string }[]
      link: { rel: string; href: string }[]
    }
    if (page.event.length === 0) return ids
    ids.push(...page.event.map(({ id }) => id))
    url = page.link.find(({ rel }) => rel === 'next')?.href ?? ''
  }
}

const idOf = ({ headers }: Received) => String(headers['webhook-id'])

t.test('a service that is killed under load delivers each event at least once, in order, and repeats it with its id', async (t) => {
  const database = await databaseUrl(t)
  const key = `tp_${randomBytes(16).toString('hex')}`
  const store = await openStore(database, 'EUR')
  await store.createKey({ customer: 'ERP', scopes: ['order', 'fulfilment'], hash: hashKey(key) })
  await store.createProduct('ABC-1', draft({ backorder: true }))
  await store.close()
  const headers = { authorization: `Bearer ${key}` }
  const settings = { DATABASE_URL: database, WEBHOOK_ALLOW: '127.0.0.1', SAMPLE_CATALOGUE: 'off' }
  const receiver = await startReceiver(t)
  let secret = ''
  let placed = 0
  for (let round = 1; round <= rounds; round++) {
    const server = await runServer(t, settings)
    if (round === 1) {
      const body = JSON.stringify({ url: receiver.url, type: ['order-placed'] })
      const sent = { ...headers, 'content-type': 'application/json' }
      secret = ((await (await fetch(`${server.base}/webhooks`, { method: 'POST', headers: sent, body })).json()) as { secret: string })
        .secret
    }
    const placing = placeUntilKilled(server.base, headers)
    await receiver.count(receiver.received.length + 20 + round)
    await server.end('SIGKILL')
    placed += await placing
  }
  const { base } = await runServer(t, settings)
  const expected = await feed(base, headers)
  t.ok(expected.length >= placed, `${placed} orders were acknowledged, ${expected.length} have an event`)
  const firsts = () => [...new Set(receiver.received.map(idOf))]
  for (let count = firsts().length; count < expected.length; count = firsts().length)
    await receiver.count(receiver.received.length + expected.length - count)
  t.strictSame(firsts(), expected, 'each event, first in the order of the feed')
  const bodies = new Map<string, string>()
  for (const one of receiver.received) {
    const before = bodies.get(idOf(one))
    if (before !== undefined) t.equal(one.body, before, 'a repetition is the same')
    bodies.set(idOf(one), one.body)
    t.equal(JSON.parse(one.body).data.id, idOf(one))
    new Verifier(secret).verify(one.body, one.headers as Record<string, string>)
  }
  t.comment(`${receiver.received.length} deliveries of ${expected.length} events`)
})
