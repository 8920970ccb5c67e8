import { Webhook as Verifier } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { Scope } from '../../domain/caller.ts'
import { parses } from '../../domain/deferred.ts'
import { everyone } from '../../domain/event.ts'
import type { Store } from '../../domain/store.ts'
import type { WebhookProgress } from '../../domain/webhook.ts'
import { Dispatcher } from '../../webhooks/dispatcher.ts'
import type { DispatcherOptions } from '../../webhooks/dispatcher-options.ts'
import { Sender } from '../../webhooks/sender.ts'
import { Targets } from '../../webhooks/targets.ts'
import { build, draft, orderXml, type Shop, xml } from '../build.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import { deferred } from './deferred.ts'
import { type Received, type Receiver, startReceiver } from './receiver.ts'

/** A shop that delivers, because it listens. */
async function open(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<Shop> {
  const shop = await build(t, { settings: { WEBHOOK_ALLOW: '127.0.0.1', ...settings } })
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  return shop
}

async function addWebhook({ app, key }: Shop, url: string, { customer = 'ERP', scopes = ['fulfilment'] as Scope[], more = {} } = {}) {
  const headers = await key(customer, ...scopes)
  const made = await app.inject({ method: 'POST', url: '/webhooks', headers, payload: { url, ...more } })
  return { ...made.json<{ id: string; secret: string }>(), url: String(made.headers['location']), headers }
}

const eventIds = (received: readonly Received[]) => received.map(({ headers }) => headers['webhook-id'])
const createProducts = async ({ store }: Shop, ...ids: string[]) => {
  for (const id of ids) await store.createProduct(id, draft({ onHand: undefined as never }))
}

/** Resolves when the log of the webhook has so many attempts. */
async function logged({ app }: Shop, { url, headers }: { url: string; headers: Record<string, string> }, count: number) {
  for (;;) {
    const { delivery } = (await app.inject({ url: `${url}/deliveries`, headers: { ...headers, accept: 'application/json' } })).json()
    if (delivery.length >= count) return delivery as readonly Record<string, string>[]
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Resolves when the webhook is disabled. */
async function disabled({ store }: Shop, id: string, customer = 'ERP') {
  for (;;) {
    const webhook = await store.webhook(id, customer)
    if (webhook.status === 'disabled') return webhook
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

t.test('the events of a shop are delivered in order, signed, as JSON and as XML', async (t) => {
  const shop = await open(t)
  const [json, asXml, own] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)]
  const { secret } = await addWebhook(shop, `${json.url}/hooks`)
  await addWebhook(shop, asXml.url, { more: { mediaType: 'application/xml', type: ['order-placed'] } })
  await addWebhook(shop, own.url, { customer: 'acme', scopes: ['order'], more: { type: ['order-placed'] } })
  const acme = await shop.key('acme', 'order')
  for (const headers of [acme, await shop.key('other', 'order'), acme])
    t.equal(
      (await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload: orderXml() })).statusCode,
      201
    )
  await shop.store.deleteProduct('ABC-1', {})
  const received = await json.count(4)
  t.same(
    received.map(({ body }) => JSON.parse(body).type),
    ['order-placed', 'order-placed', 'order-placed', 'product-deleted']
  )
  for (const { body, headers } of received) {
    t.match(new Verifier(secret).verify(body, headers as Record<string, string>), { data: { id: headers['webhook-id'], at: String } })
    t.equal(headers['content-type'], 'application/json')
  }
  t.match(JSON.parse(received[0]?.body ?? ''), { data: { order: { status: 'accepted', item: [{ quantity: { value: '1' } }] } } })
  t.match((await asXml.count(3))[0], { headers: { 'content-type': 'application/xml' }, body: /^<\?xml[\s\S]*<event [\s\S]*<order / })
  t.same(await faultsByPublishedSchema(shop.app, asXml.received[0]?.body ?? ''), [])
  t.same(eventIds(await own.count(2)), [eventIds(received)[0], eventIds(received)[2]], "a customer's own orders only")
})

t.test('a large order is not parsed in the serving thread', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  await addWebhook(shop, receiver.url, { more: { type: ['order-placed'] } })
  const parsed: unknown[] = []
  const listen = (length: unknown) => parsed.push(length)
  parses.subscribe(listen)
  t.teardown(() => parses.unsubscribe(listen))
  const payload = `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>0.001</quantity></item>'.repeat(1_000)}</purchase-order>`
  await shop.store.putProduct('ABC-1', draft({ unit: 'KGM' }), {})
  t.equal((await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload })).statusCode, 201)
  const [{ body } = { body: '' }] = await receiver.count(1)
  t.equal(JSON.parse(body).data.order.item.length, 1_000)
  t.same(parsed, [])
})

t.test('an event that fails is sent again with the same id, and later ones wait for it', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t, (response, _, count) => {
    if (count === 1) response.writeHead(500).end()
    else response.writeHead(204).end()
  })
  const webhook = await addWebhook(shop, receiver.url)
  await createProducts(shop, 'A', 'B')
  const received = await receiver.count(3)
  const ids = eventIds(received)
  t.equal(ids[0], ids[1])
  t.same(
    received.map(({ body }) => JSON.parse(body).data.resource),
    ['/product/A', '/product/A', '/product/B']
  )
  t.match(await logged(shop, webhook, 3), [
    { event: ids[2], attempt: '1', status: '204' },
    { event: ids[0], attempt: '2', status: '204' },
    { event: ids[0], attempt: '1', status: '500' }
  ])
})

t.test('receivers that hang, close or redirect delay nobody else', async (t) => {
  const shop = await open(t)
  const hanging = await startReceiver(t, () => {})
  const closing = await startReceiver(t, (response) => response.destroy())
  const elsewhere = await startReceiver(t)
  const moved = await startReceiver(t, (response) => response.writeHead(308, { location: elsewhere.url }).end())
  const well = await startReceiver(t)
  for (let i = 0; i < 15; i++) await addWebhook(shop, hanging.url)
  const [shut, redirected] = [await addWebhook(shop, closing.url), await addWebhook(shop, moved.url)]
  await addWebhook(shop, well.url)
  await createProducts(shop, 'A', 'B', 'C')
  await Promise.all([well.count(3), hanging.count(15), closing.count(1), moved.count(1)])
  t.equal(hanging.received.length, 15, 'each has one event at a time')
  t.match(await logged(shop, shut, 1), [{ attempt: '1', failure: /closed the connection/ }])
  t.match(await logged(shop, redirected, 1), [{ attempt: '1', status: '308' }])
  t.equal(elsewhere.received.length, 0)
})

t.test('410 ends a webhook with an event, and its owner can make it go on where it was', async (t) => {
  const shop = await open(t)
  const watcher = await startReceiver(t)
  await addWebhook(shop, watcher.url, { more: { type: ['webhook-disabled'] } })
  const receiver: Receiver = await startReceiver(t, (response, _, count) => response.writeHead(count === 1 ? 410 : 204).end())
  const { id, url, headers } = await addWebhook(shop, receiver.url)
  await createProducts(shop, 'A', 'B')
  t.match(await disabled(shop, id), { reason: /410/ })
  t.match(JSON.parse((await watcher.count(1))[0]?.body ?? ''), { type: 'webhook-disabled', data: { resource: url } })
  t.equal(receiver.received.length, 1)
  const { body, headers: read } = await shop.app.inject({ url, headers })
  const payload = body.replace('>disabled<', '>active<')
  const put = { ...xml, ...headers, 'if-match': String(read['etag']) }
  t.equal((await shop.app.inject({ method: 'PUT', url, headers: put, payload })).statusCode, 200)
  const received = await receiver.count(3)
  t.same(
    received.slice(0, 3).map(({ body }) => JSON.parse(body).data.resource),
    ['/product/A', '/product/A', '/product/B']
  )
})

t.test('a webhook ends with the key that made it', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  const { id } = await addWebhook(shop, receiver.url)
  for (const key of await shop.store.keys()) await shop.store.revokeKey(key.id)
  await createProducts(shop, 'A')
  t.match(await disabled(shop, id), { reason: /key .* revoked/ })
  t.equal(receiver.received.length, 0)
})

t.test('while two secrets are valid, both sign', async (t) => {
  const shop = await open(t)
  const receiver = await startReceiver(t)
  const { secret, url, headers } = await addWebhook(shop, receiver.url)
  const renewed = await shop.app.inject({ method: 'POST', url: `${url}/secret`, headers: { ...headers, accept: 'application/json' } })
  await createProducts(shop, 'A')
  const [{ body, headers: sent } = { body: '', headers: {} }] = await receiver.count(1)
  for (const one of [secret, renewed.json().secret]) t.doesNotThrow(() => new Verifier(one).verify(body, sent as Record<string, string>))
})

t.test('a service that stops lets a delivery in progress finish, and begins no other', async (t) => {
  const shop = await open(t)
  let release = () => {}
  const receiver = await startReceiver(t, async (response, _, count) => {
    if (count === 1) await new Promise<void>((resolve) => (release = resolve))
    response.writeHead(204).end()
  })
  await addWebhook(shop, receiver.url)
  await createProducts(shop, 'A', 'B')
  await receiver.count(1)
  const closed = shop.app.close()
  release()
  await closed
  t.equal(receiver.received.length, 1)
})

/** A dispatcher of its own on the shop's store, of which verbs can be replaced, and one webhook. */
async function dispatching(t: Test, url: string, more: Partial<DispatcherOptions> & { readonly verbs?: Partial<Store> } = {}) {
  const { store } = await build(t)
  const warnings: string[] = []
  const { verbs = {}, ...options } = more
  const dispatcher = new Dispatcher({
    store: { ...store, ...verbs },
    sender: new Sender(new Targets(['127.0.0.1'])),
    write: async ({ id }) => Buffer.from(id),
    warn: (_, message) => warnings.push(message),
    ...options
  })
  t.teardown(() => dispatcher.stop())
  const key = await store.createKey({ customer: 'ERP', scopes: ['fulfilment'], hash: 'a'.repeat(64) })
  const owner = { customer: 'ERP', keyId: key.id }
  const wanted = { url, types: [], mediaType: 'application/json', status: 'active', owner, hears: everyone } as const
  const { id } = await store.createWebhook(wanted, 'whsec_AAAA')
  return { store, dispatcher, warnings, id }
}

t.test('what the shop cannot write or read now does not count as an attempt', async (t) => {
  const receiver = await startReceiver(t)
  const steps: WebhookProgress[] = []
  const settled = deferred()
  const shop = await dispatching(t, receiver.url, {
    write: () => Promise.reject(new Error('busy')),
    verbs: {
      async settleWebhook(...args) {
        steps.push(args[2])
        const next = await shop.store.settleWebhook(...args)
        settled.resolve()
        return next
      }
    }
  })
  await shop.store.createProduct('A', draft({}))
  shop.dispatcher.start()
  await settled.promise
  t.match(steps, [{ step: { kind: 'postpone', in: Number }, delivery: undefined }])
  t.same((await shop.store.deliveries(shop.id, 'ERP', { limit: 5 })).items, [])
  t.match(shop.warnings, [/cannot be sent to a webhook now/])
})

t.test('a write that ends because the service stops counts for nothing', async (t) => {
  const receiver = await startReceiver(t)
  const steps: WebhookProgress[] = []
  const writing = deferred()
  const shop = await dispatching(t, receiver.url, {
    write: (_event, _webhook, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        writing.resolve()
      }),
    verbs: {
      async settleWebhook(...args) {
        steps.push(args[2])
        return undefined
      }
    }
  })
  await shop.store.createProduct('A', draft({}))
  shop.dispatcher.start()
  await writing.promise
  await shop.dispatcher.stop()
  t.same(steps, [])
  t.match(await shop.store.claimWebhooks('next', 5), [{ id: shop.id, failures: 0 }])
})

t.test('a claim that has ended is noticed before the POST', async (t) => {
  const receiver = await startReceiver(t)
  const asked = deferred()
  const shop = await dispatching(t, receiver.url, {
    renewAfter: 0,
    verbs: {
      async renewClaim() {
        asked.resolve()
        return false
      }
    }
  })
  await shop.store.createProduct('A', draft({}))
  shop.dispatcher.start()
  await asked.promise
  await shop.dispatcher.stop()
  t.equal(receiver.received.length, 0)
})

t.test('a warning says once that a webhook misses events', async (t) => {
  const receiver = await startReceiver(t)
  const { store, dispatcher, warnings, id } = await dispatching(t, receiver.url)
  await store.createProduct('A', draft({}))
  const [claimed] = await store.claimWebhooks('before', 1)
  const delivery = { eventId: claimed?.next.id ?? '', attempt: 1, at: 1, durationMs: 1, failure: 'It hangs.' }
  await store.settleWebhook('before', { id, version: 1 }, { delivery, step: { kind: 'retry', in: 0 } })
  await createProducts({ store } as Shop, 'B', 'C')
  t.equal(await store.pruneEvents(Number.MAX_SAFE_INTEGER, claimed?.next.position ?? 0), claimed?.next.position)
  dispatcher.start()
  await receiver.count(1)
  await dispatcher.stop()
  t.same(
    warnings.map((message) => /misses events.*EVENTS_KEEP/.test(message)),
    [true]
  )
})

t.test('while the database cannot be written, a webhook waits, and then it goes on', async (t) => {
  const shop = await build(t)
  const receiver = await startReceiver(t)
  const { store } = shop
  const sender = new Sender(new Targets(['127.0.0.1']))
  const warnings: string[] = []
  const lost = { claim: false, settle: false }
  const flaky: DispatcherOptions['store'] = {
    lastEvent: () => store.lastEvent(),
    events: (heads) => store.events(heads),
    renewClaim: (...args) => store.renewClaim(...args),
    releaseWebhooks: (worker) => store.releaseWebhooks(worker),
    // The claim and the first delivery are stored, but the shop is not told so.
    async claimWebhooks(...args) {
      const claimed = await store.claimWebhooks(...args)
      if (claimed.length === 0 || lost.claim) return claimed
      lost.claim = true
      throw new Error('lost')
    },
    async settleWebhook(...args) {
      const settled = await store.settleWebhook(...args)
      if (lost.settle) return settled
      lost.settle = true
      throw new Error('lost')
    }
  }
  const dispatcher = new Dispatcher({
    store: flaky,
    sender,
    write: async ({ id }) => Buffer.from(id),
    warn: (_, message) => warnings.push(message)
  })
  t.teardown(() => dispatcher.stop())
  const key = await store.createKey({ customer: 'ERP', scopes: ['fulfilment'], hash: 'a'.repeat(64) })
  await store.createWebhook(
    {
      url: receiver.url,
      types: [],
      mediaType: 'application/json',
      status: 'active',
      owner: { customer: 'ERP', keyId: key.id },
      hears: everyone
    },
    'whsec_AAAA'
  )
  await createProducts(shop, 'A', 'B', 'C')
  dispatcher.start()
  const received = await receiver.count(3)
  t.same([...new Set(eventIds(received))], eventIds(received.slice(0, 3)), 'in order, each once')
  t.match(warnings, [/cannot be read now/, /could not be stored/])
})
