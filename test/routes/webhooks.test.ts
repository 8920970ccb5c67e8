import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { mostWebhooks } from '../../domain/webhook.ts'
import { Problem } from '../../http/problem.ts'
import { ThreadLost } from '../../threads/helper-thread.ts'
import { SendingThread } from '../../webhooks/sending.ts'
import { build, type Shop, xml } from '../build.ts'
import { remaining } from '../http/wire.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'
import { replace } from '../stopped-clock.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { seller } from './webhook-seller.ts'

const document = (url: string, more = '') => `<webhook><url>${url}</url>${more}</webhook>`

type Headers = Readonly<Record<string, string>>

async function make({ app }: Shop, key: Headers, url = 'http://127.0.0.1:9/hooks', more = '') {
  return app.inject({ method: 'POST', url: '/webhooks', headers: { ...xml, ...key }, payload: document(url, more) })
}

t.test('a webhook is made with a secret that is shown once, in XML and JSON', async (t) => {
  const { shop, key } = await seller(t)
  const made = await make(shop, key, undefined, '<type>order-placed</type><media-type>application/xml</media-type>')
  t.match(made, { statusCode: 201, headers: { 'cache-control': 'no-store', location: /^\/webhook\/[0-9a-f-]{36}$/ } })
  t.same(await faultsByPublishedSchema(shop.app, made.body), [])
  t.match(made.body, /<secret>whsec_[A-Za-z0-9+/]+=*<\/secret>/)
  t.match(
    made.body,
    /<url>http:\/\/127\.0\.0\.1:9\/hooks<\/url>[\s\S]*<type>order-placed<\/type>[\s\S]*application\/xml[\s\S]*<status>active/
  )
  const json = await shop.app.inject({ method: 'POST', url: '/webhooks', headers: key, payload: { url: 'http://127.0.0.1:9/' } })
  t.match(json.json(), { type: [], mediaType: 'application/json', status: 'active', secret: /^whsec_/ })
  for (const url of [String(made.headers['location']), '/webhooks']) {
    const read = await shop.app.inject({ url, headers: key })
    t.equal(read.statusCode, 200)
    t.notMatch(read.body, 'whsec_', url)
    t.same(await faultsByPublishedSchema(shop.app, read.body), [], `${url} is valid`)
  }
})

t.test('a webhook whose URL cannot be checked now is 503, and is not stored', async (t) => {
  const { shop, key } = await seller(t)
  replace(t, SendingThread.prototype, 'check', () => Promise.reject(new ThreadLost(true)))
  const refused = await make(shop, key)
  t.match(refused, { statusCode: 503, headers: { 'retry-after': /^\d+$/ }, body: /The URL cannot be checked now\. Nothing was stored\./ })
  t.notMatch((await shop.app.inject({ url: '/webhooks', headers: key })).body, '127.0.0.1')
})

t.test('making and changing a webhook counts as six requests, because the shop then calls the receiver', async (t) => {
  const { shop, key } = await seller(t)
  await shop.app.inject({ url: '/webhooks', headers: key })
  const before = remaining((await shop.app.inject({ url: '/webhooks', headers: key })).headers)
  const made = await make(shop, key)
  const url = String(made.headers['location'])
  const changed = await shop.app.inject({
    method: 'PUT',
    url,
    headers: { ...xml, ...key, 'if-match': '*' },
    payload: document('http://127.0.0.1:9/')
  })
  t.same([made.statusCode, changed.statusCode], [201, 200])
  t.same([remaining(made.headers), remaining(changed.headers)], [before - 6, before - 12])
})

t.test('a webhook needs a key, and another customer’s is not there', async (t) => {
  const { shop, key } = await seller(t)
  const { headers } = await make(shop, key)
  const url = String(headers['location'])
  const other = await shop.key('other', 'order', 'catalogue', 'fulfilment')
  for (const request of [
    { method: 'GET', url },
    { method: 'PUT', url, headers: xml, payload: document('http://127.0.0.1:9/') },
    { method: 'DELETE', url },
    { method: 'POST', url: `${url}/secret` },
    { method: 'GET', url: `${url}/deliveries` },
    { method: 'POST', url: `${url}/deliveries`, headers: xml, payload: '<delivery event="x"/>' }
  ] as const) {
    const name = `${request.method} ${request.url}`
    t.equal((await shop.app.inject(request)).statusCode, 401, name)
    const refused = await shop.app.inject({ ...request, headers: { ...('headers' in request ? request.headers : {}), ...other } })
    t.match([refused.statusCode, refused.body], [404, 'webhook-not-found'], name)
  }
  t.equal((await shop.app.inject('/webhooks')).statusCode, 401)
  t.notMatch((await shop.app.inject({ url: '/webhooks', headers: other })).body, '<webhook ')
})

t.test('a URL that may not be called is 422 with the reason and its place', async (t) => {
  const shop = await build(t)
  const key = await shop.key('acme', 'order')
  for (const [url, reason] of [
    ['http://erp.example/', 'only for hosts that the shop allows'],
    ['https://127.0.0.1/', 'not public'],
    ['https://localhost/', 'not public'],
    ['https://2130706433/', '127.0.0.1'],
    ['https://[::1]/', 'not public'],
    ['https://a:b@erp.example/', 'user name'],
    ['https://erp.example/#a', 'fragment'],
    ['https://[::ffff:127.0.0.1]/', 'not public'],
    ['https://0x7f.1/', '127.0.0.1'],
    ['https://localhost./', 'not public'],
    ['https://a..b/', 'empty part'],
    ['https://-/', 'cannot be in a name'],
    ['https://erp.example:0/', 'port 0'],
    [`https://${'a.'.repeat(126)}ab/`, '253 characters'],
    ['https://erp.example/a b', 'spaces'],
    ['nonsense', 'absolute URL']
  ] as const) {
    const refused = await make(shop, key, url)
    t.match([refused.statusCode, refused.body], [422, reason], url)
    t.match(refused.body, /<line>1<\/line>[\s\S]*\/webhook\/url|\/webhook\/url[\s\S]*<line>1</, `${url}: its place`)
  }
  t.same((await shop.store.webhooks('acme')).length, 0)
})

t.test('a document that is not valid is refused, and so are types that the key never sees', async (t) => {
  const { shop, key } = await seller(t)
  for (const more of ['<type>nothing</type>', '<media-type>text/html</media-type>', '<status>on</status>'])
    t.equal((await make(shop, key, undefined, more)).statusCode, 422, more)
  t.equal((await make(shop, key, `http://127.0.0.1/${'a'.repeat(2048)}`)).statusCode, 422)
  const customer = await shop.key('acme', 'order')
  const refused = await make(shop, customer, undefined, '<type>order-placed</type><type>stock-set</type>')
  t.match([refused.statusCode, refused.body], [422, /stock-set/])
  t.match(refused.body, /type\[2\]/)
})

t.test('the number of webhooks is limited', async (t) => {
  const { shop, key } = await seller(t)
  for (let i = 0; i < mostWebhooks.ofCustomer; i++) t.equal((await make(shop, key)).statusCode, 201)
  const refused = await make(shop, key)
  t.match([refused.statusCode, refused.body], [409, 'too-many-webhooks'])
})

t.test('a webhook is replaced with If-Match on the bytes that GET gave, and deleted', async (t) => {
  const { shop, key } = await seller(t)
  const url = String((await make(shop, key)).headers['location'])
  const { body, headers } = await shop.app.inject({ url, headers: key })
  const put = (more: Headers, payload = body) => shop.app.inject({ method: 'PUT', url, headers: { ...xml, ...key, ...more }, payload })
  t.equal((await put({})).statusCode, 428)
  const tag = { 'if-match': String(headers['etag']) }
  const changed = await put(tag, body.replace(':9/hooks', ':9/new').replace('>active<', '>disabled<'))
  t.match([changed.statusCode, changed.body], [200, /:9\/new[\s\S]*>disabled</])
  t.equal((await put(tag)).statusCode, 412)
  t.match((await put({ 'if-match': String(changed.headers['etag']) }, document('http://10.0.0.1/'))).statusCode, 422)
  t.equal((await shop.app.inject({ method: 'DELETE', url, headers: { ...key, ...tag } })).statusCode, 412)
  t.equal((await shop.app.inject({ method: 'DELETE', url, headers: key })).statusCode, 204)
  t.equal((await shop.app.inject({ url, headers: key })).statusCode, 404)
})

t.test('a webhook can be disabled when its URL may no longer be called, and not made active again', async (t) => {
  const { shop, key } = await seller(t)
  const made = await make(shop, key)
  const url = String(made.headers['location'])
  const { body, headers } = await shop.app.inject({ url, headers: key })
  shop.app.webhooks.checkUrl = async () => {
    throw new DomainError('invalid-webhook', 'The host cannot be found.')
  }
  const put = (tag: unknown, payload: string) =>
    shop.app.inject({ method: 'PUT', url, headers: { ...xml, ...key, 'if-match': String(tag) }, payload })
  t.equal((await put(headers['etag'], body)).statusCode, 422)
  const disabled = await put(headers['etag'], body.replace('>active<', '>disabled<'))
  t.match([disabled.statusCode, disabled.body], [200, '>disabled<'])
  t.equal((await put(disabled.headers['etag'], disabled.body.replace('>disabled<', '>active<'))).statusCode, 422)
  t.equal((await put(disabled.headers['etag'], disabled.body.replace(':9/hooks', ':9/new'))).statusCode, 422, 'a new URL is checked')
})

t.test('a new secret is shown once', async (t) => {
  const { shop, key } = await seller(t)
  const made = await make(shop, key)
  const url = String(made.headers['location'])
  const renewed = await shop.app.inject({ method: 'POST', url: `${url}/secret`, headers: key })
  const secret = (text: string) => /<secret>(.*)<\/secret>/.exec(text)?.[1]
  t.match([renewed.statusCode, renewed.headers['cache-control'], secret(renewed.body)], [200, 'no-store', /^whsec_/])
  t.not(secret(renewed.body), secret(made.body))
  const json = await shop.app.inject({ method: 'POST', url: `${url}/secret`, headers: { ...key, accept: 'application/json' } })
  t.match([json.statusCode, json.json()], [200, { secret: /^whsec_/ }], 'in JSON, too')
})

t.test('a representation with a secret is sent whatever Prefer says, and has no entity tag', async (t) => {
  const { shop, key } = await seller(t)
  const minimal = { ...key, prefer: 'return=minimal' }
  const made = await make(shop, minimal)
  const url = String(made.headers['location'])
  const renewed = await shop.app.inject({ method: 'POST', url: `${url}/secret`, headers: minimal })
  for (const { headers, body } of [made, renewed]) {
    t.match(body, /<secret>whsec_/)
    t.match([headers['cache-control'], headers['etag'], headers['preference-applied']], ['no-store', undefined, undefined])
  }
  t.match([made.statusCode, renewed.statusCode], [201, 200])
})

t.test('a key of the same customer manages only what its own events cover', async (t) => {
  const { shop, key } = await seller(t)
  const buyer = await shop.key('ERP', 'order')
  const all = String((await make(shop, key)).headers['location'])
  const own = String((await make(shop, buyer)).headers['location'])
  const document = '<webhook><url>http://127.0.0.1:9/</url></webhook>'
  const requests = (url: string, headers: Headers) =>
    [
      { method: 'GET', url: `${url}/deliveries`, headers },
      { method: 'POST', url: `${url}/deliveries`, headers: { ...xml, ...headers }, payload: '<delivery event="x"/>' },
      { method: 'POST', url: `${url}/secret`, headers },
      { method: 'PUT', url, headers: { ...xml, ...headers, 'if-match': '*' }, payload: document },
      { method: 'DELETE', url, headers }
    ] as const
  for (const request of requests(all, buyer)) {
    const refused = await shop.app.inject(request)
    t.match([refused.statusCode, refused.body], [403, 'forbidden'], `${request.method} ${request.url}`)
  }
  t.equal((await shop.app.inject({ url: all, headers: buyer })).statusCode, 200, 'it is seen by its customer')
  const statuses: number[] = []
  for (const request of requests(own, key)) statuses.push((await shop.app.inject(request)).statusCode)
  t.same(statuses, [200, 422, 200, 200, 204])
})

t.test('nothing is sent again for a key that was revoked', async (t) => {
  const { shop, key } = await seller(t)
  const receiver = await startReceiver(t)
  const url = `${(await make(shop, key, receiver.url)).headers['location']}/deliveries`
  await shop.store.createProduct('B', { name: 'B', price: '1' as never, unit: 'C62', categories: [], images: [], backorder: false })
  const event = await shop.store.lastEvent()
  for (const { id } of await shop.store.keys()) await shop.store.revokeKey(id)
  const headers = { ...xml, ...(await shop.key('ERP', 'fulfilment')) }
  const sent = await shop.app.inject({ method: 'POST', url, headers, payload: `<delivery event="${event?.id}"/>` })
  t.match([sent.statusCode, sent.body], [422, /key of this webhook was revoked/])
  t.equal(receiver.received.length, 0)
})

t.test('an event is sent again on demand, and is in the log', async (t) => {
  const { shop, key } = await seller(t)
  const receiver = await startReceiver(t)
  const made = await make(shop, key, `${receiver.url}/hooks`)
  const url = `${made.headers['location']}/deliveries`
  await shop.store.createProduct('B', { name: 'B', price: '1' as never, unit: 'C62', categories: [], images: [], backorder: false })
  const event = await shop.store.lastEvent()
  const again = (id = '') => shop.app.inject({ method: 'POST', url, headers: { ...xml, ...key }, payload: `<delivery event="${id}"/>` })
  const sent = await again(event?.id)
  t.match(
    [sent.statusCode, sent.body],
    [200, new RegExp(`<delivery event="${event?.id}" type="product-created" attempt="0" at="[^"]+" status="204" duration-ms="`)]
  )
  t.notOk('content-location' in sent.headers, 'a delivery is not the list of them (RFC 9110 8.7)')
  t.notMatch(sent.headers['link'], 'alternate')
  t.match(receiver.received[0], { path: '/hooks', headers: { 'webhook-id': event?.id } })
  t.match(JSON.parse(receiver.received[0]?.body ?? ''), {
    type: 'product-created',
    timestamp: String,
    data: { id: event?.id, type: 'product-created', resource: '/product/B', version: '1' }
  })
  for (const document of [sent.body, (await shop.app.inject({ url, headers: key })).body])
    t.same(await faultsByPublishedSchema(shop.app, document), [])
  const listed = await shop.app.inject({ url: `${url}?limit=1`, headers: { ...key, accept: 'application/json' } })
  t.match(listed.json(), { delivery: [{ event: event?.id, type: 'product-created', attempt: '0', status: '204' }] })
  t.match(
    (await shop.app.inject({ url, headers: { ...key, accept: 'text/html' } })).body,
    `Product created <small class="code">${event?.id}<`
  )
  t.match([(await again('01a203d4-9152-7530-9420-de2890300176')).statusCode, (await again('x')).statusCode], [422, 422])
  t.equal((await shop.app.inject({ url: `${url}?after=x`, headers: key })).statusCode, 400)
})

t.test('an event that an overloaded shop cannot send again is answered 503, and nothing is sent or logged', async (t) => {
  const { shop, key } = await seller(t)
  const receiver = await startReceiver(t)
  const url = `${(await make(shop, key, receiver.url)).headers['location']}/deliveries`
  await shop.store.createProduct('B', { name: 'B', price: '1' as never, unit: 'C62', categories: [], images: [], backorder: false })
  const payload = `<delivery event="${(await shop.store.lastEvent())?.id}"/>`
  shop.store.events = () => Promise.reject(new Problem('overloaded', 'Later.'))
  const sent = await shop.app.inject({ method: 'POST', url, headers: { ...xml, ...key }, payload })
  t.match([sent.statusCode, sent.body], [503, /overloaded[\s\S]*cannot be sent now\. Nothing was sent/])
  t.equal(receiver.received.length, 0)
  t.notMatch((await shop.app.inject({ url, headers: key })).body, '<delivery ')
})

t.test('who has an event sent again learns how that ended, also when the log of deliveries cannot be written', async (t) => {
  const { shop, key } = await seller(t)
  const receiver = await startReceiver(t)
  const made = await make(shop, key, `${receiver.url}/hooks`)
  await shop.store.createProduct('B', { name: 'B', price: '1' as never, unit: 'C62', categories: [], images: [], backorder: false })
  shop.store.logDelivery = () => Promise.reject(new DomainError('store-overloaded', 'Nothing was stored. Try again.'))
  const url = `${made.headers['location']}/deliveries`
  const payload = `<delivery event="${(await shop.store.lastEvent())?.id}"/>`
  const sent = await shop.app.inject({ method: 'POST', url, headers: { ...xml, ...key }, payload })
  t.match([sent.statusCode, sent.body, receiver.received.length], [200, ' status="204" ', 1])
})

t.test('a new secret is made only if If-Match, where it is sent, has the tag of the webhook (RFC 9110 13.1.1)', async (t) => {
  const { shop, key } = await seller(t)
  const webhook = String((await make(shop, key)).headers['location'])
  const secret = (tag: string) => shop.app.inject({ method: 'POST', url: `${webhook}/secret`, headers: { ...key, 'if-match': tag } })
  const { headers } = await shop.app.inject({ url: webhook, headers: key })
  t.equal((await secret('"old"')).statusCode, 412)
  t.equal((await secret(String(headers['etag']))).statusCode, 200)
  t.equal((await secret(String(headers['etag']))).statusCode, 412)
  t.equal((await secret('*')).statusCode, 200)
})
