import t from 'tap'
import { form } from '../build.ts'
import { hidden, html, post } from './form-post.ts'
import { idOf, seller } from './webhook-seller.ts'

t.test('people have pages: a form that adds, one that changes, and the deliveries', async (t) => {
  const { shop, key } = await seller(t)
  const page = { ...key, accept: 'text/html' }
  const headers = { ...page, ...form }
  t.match((await shop.app.inject({ url: '/webhooks', headers: page })).body, /You have no webhooks[\s\S]*name="url"[\s\S]*order-placed/)
  const made = await shop.app.inject({
    method: 'POST',
    url: '/webhooks',
    headers,
    payload: 'url=http%3A%2F%2F127.0.0.1%3A9%2F&type.3=order-changed&media-type=application%2Fjson'
  })
  t.match([made.statusCode, made.body], [201, /whsec_/])
  const url = String(made.headers['location'])
  const shown = await shop.app.inject({ url, headers: page })
  const tag = /name="_if-match" value="([^"]+)"/.exec(shown.body)?.[1]?.replaceAll('&quot;', '"') ?? ''
  const fields = new URLSearchParams({ _method: 'PUT', '_if-match': tag, url: 'http://127.0.0.1:9/new', status: 'disabled' })
  const changed = await shop.app.inject({ method: 'POST', url, headers, payload: String(fields) })
  t.match([changed.statusCode, changed.headers['location']], [303, `${url}#done`])
  const stored = await shop.store.webhook(idOf(url), 'ERP')
  t.match(stored, { url: 'http://127.0.0.1:9/new', status: 'disabled' })
  t.same(stored.types, [], 'a form without types asks for all')
  const renewed = await shop.app.inject({ method: 'POST', url: `${url}/secret`, headers })
  t.match([renewed.statusCode, renewed.body], [200, /whsec_/])
  t.match((await shop.app.inject({ url: `${url}/deliveries`, headers: page })).body, 'Nothing has been delivered yet')
  const gone = await shop.app.inject({ method: 'POST', url, headers, payload: '_method=DELETE' })
  t.match([gone.statusCode, gone.headers['location']], [303, '/webhooks#done'])
})

t.test('the form of a new webhook proposes the media type of a webhook that names none', async (t) => {
  const { shop, key } = await seller(t)
  const page = await shop.app.inject({ url: '/webhooks', headers: { ...html, ...key } })
  const [, proposed] = /<option value="([^"]+)" selected>/.exec(page.body) ?? []
  const made = await post(shop.app, '/webhooks', { url: 'http://127.0.0.1:9/' }, { ...html, ...key })
  t.equal(made.statusCode, 201)
  t.equal((await shop.store.webhook(idOf(String(made.headers['location'])), 'ERP')).mediaType, proposed)
})

t.test('a form that is sent again makes neither a second webhook nor another secret', async (t) => {
  const { shop, key } = await seller(t)
  const headers = { ...html, ...key }
  const read = async (url: string) => (await shop.app.inject({ url, headers })).body
  const secretIn = (body: string) => /whsec_[A-Za-z0-9+/]+=*/.exec(body)?.[0]
  const formKey = hidden(await read('/webhooks'), '_idempotency-key') ?? ''
  t.not(formKey, hidden(await read('/webhooks'), '_idempotency-key'), 'each page has a key of its own')
  const fields = { '_idempotency-key': formKey, url: 'http://127.0.0.1:9/', 'media-type': 'application/json' }
  const made = await post(shop.app, '/webhooks', fields, headers)
  const first = secretIn(made.body)
  t.equal(made.statusCode, 201)
  t.ok(first)
  const again = await post(shop.app, '/webhooks', fields, headers)
  t.match([again.statusCode, again.headers['location']], [303, made.headers['location']], 'it leads to the webhook, without the secret')
  t.equal((await shop.store.webhooks('ERP')).length, 1)
  t.equal((await post(shop.app, '/webhooks', { ...fields, url: 'http://127.0.0.1:10/' }, headers)).statusCode, 201, 'other content')

  const webhook = String(made.headers['location'])
  const condition = { '_if-match': hidden(made.body.slice(made.body.indexOf('/secret"')), '_if-match') ?? '' }
  const renewed = await post(shop.app, `${webhook}/secret`, condition, headers)
  const second = secretIn(renewed.body)
  t.equal(renewed.statusCode, 200)
  t.ok(second && second !== first)
  const repeated = await post(shop.app, `${webhook}/secret`, condition, headers)
  t.match([repeated.statusCode, repeated.body], [412, 'No other secret was made'])
  t.equal(secretIn(repeated.body), undefined)
  t.match(await shop.store.webhook(idOf(webhook), 'ERP'), { version: 2 })
  const anew = { '_if-match': hidden(repeated.body.slice(repeated.body.indexOf('/secret"')), '_if-match') ?? '' }
  t.equal((await post(shop.app, `${webhook}/secret`, anew, headers)).statusCode, 200, 'the page that refuses can make a new one')
})
