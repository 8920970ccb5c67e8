import t from 'tap'
import { build, orderXml, type Shop, xml } from '../build.ts'

const json = { 'content-type': 'application/json', accept: 'application/json' } as const

type Headers = Readonly<Record<string, string>>

/** A shop with a key for everything, and the paths of four resources whose documents have an id. */
async function resources(t: Parameters<typeof build>[0]) {
  const shop = await build(t, { settings: { WEBHOOK_ALLOW: '127.0.0.1', ACCEPTANCE: 'manual' } })
  const key = await shop.key('Acme', 'order', 'catalogue', 'fulfilment')
  const post = (url: string, payload: string) => shop.app.inject({ method: 'POST', url, headers: { ...xml, ...key }, payload })
  const order = String((await post('/order', orderXml())).headers['location'])
  const hook = String((await post('/webhooks', '<webhook><url>http://127.0.0.1:9/hooks</url></webhook>')).headers['location'])
  return { shop, key, paths: ['/product/ABC-1/stock', `${order}/status`, order, hook] }
}

async function put({ app }: Shop, url: string, payload: string, headers: Headers) {
  return app.inject({ method: 'PUT', url, headers, payload })
}

t.test('a document that names another resource than its URI is 422, in XML and in JSON, and stores nothing', async (t) => {
  const { shop, key, paths } = await resources(t)
  for (const url of paths) {
    const read = await shop.app.inject({ url, headers: key })
    const tag = { 'if-match': String(read.headers['etag']) }
    const other = read.body.replace(/(<(\S+) (?:product|order|id)=")[^"]+/, '$1other')
    const root = /<(stock|order-status|order|webhook) /.exec(other)?.[1]
    const refused = await put(shop, url, other, { ...xml, ...key, ...tag })
    t.equal(refused.statusCode, 422, `${url}: ${refused.body}`)
    t.match(refused.body, /identity-mismatch[\s\S]*the document other\.[\s\S]*<line>2<\/line>/)
    t.match(refused.body, `<path>/${root}</path>`)
    const asJson = await shop.app.inject({ url, headers: { ...key, accept: 'application/json' } })
    const name = ['product', 'order', 'id'].find((one) => one in asJson.json()) ?? ''
    const payload = JSON.stringify({ ...asJson.json(), [name]: 'other' })
    const refusedJson = await put(shop, url, payload, { ...json, ...key, 'if-match': String(asJson.headers['etag']) })
    t.match([refusedJson.statusCode, refusedJson.json()], [422, { type: /identity-mismatch$/, errors: [{ path: String }] }], url)
    t.equal((await shop.app.inject({ url, headers: key })).headers['etag'], read.headers['etag'], 'nothing changed')
  }
})

t.test('a representation that was read can be sent back, and so can a document without an id', async (t) => {
  const { shop, key, paths } = await resources(t)
  for (const url of paths) {
    for (const without of [false, true]) {
      const read = await shop.app.inject({ url, headers: key })
      const payload = without ? read.body.replace(/(<(?:stock|order-status|order|webhook)) (?:product|order|id)="[^"]+"/, '$1') : read.body
      t.equal(/<(?:stock|order-status|order|webhook) (?:product|order|id)=/.test(payload), !without)
      const sent = await put(shop, url, payload, { ...xml, ...key, 'if-match': String(read.headers['etag']) })
      t.equal(sent.statusCode, 200, `${url}: ${sent.body}`)
      const asJson = await shop.app.inject({ url, headers: { ...key, accept: 'application/json' } })
      const sentJson = await put(shop, url, asJson.body, { ...json, ...key, 'if-match': String(asJson.headers['etag']) })
      t.equal(sentJson.statusCode, 200, `${url}: ${sentJson.body}`)
    }
  }
})

t.test('whoever may not see an order learns nothing about it from another id', async (t) => {
  const { shop, paths } = await resources(t)
  const stranger = await shop.key('Other', 'order')
  const refused = await put(shop, paths[2] ?? '', '<order id="other"/>', { ...xml, ...stranger, 'if-match': '*' })
  const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  const hidden = await put(shop, paths[2] ?? '', `<order id="other">${item}</order>`, { ...xml, ...stranger, 'if-match': '*' })
  t.match([refused.statusCode, hidden.statusCode, hidden.body], [422, 404, 'order-not-found'])
})
