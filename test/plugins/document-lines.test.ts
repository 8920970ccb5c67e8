import t, { type Test } from 'tap'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'

interface Place {
  readonly line?: number
  readonly path: string
}

/** A shop with a key for everything, and an order of two lines. */
async function shopWithOrder(t: Test) {
  const shop = await build(t, { settings: { ACCEPTANCE: 'manual' } })
  const key = await shop.key('Acme', 'order', 'catalogue', 'fulfilment')
  const placed = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...key }, payload: orderXml() })
  return { shop, key, order: String(placed.headers['location']) }
}

/** Sends a document whose lines are given, and returns the places of the errors that it is refused with. */
async function placesOf({ app }: Shop, key: object, method: 'POST' | 'PUT', url: string, lines: readonly string[], type = 'json') {
  const headers = { 'content-type': `application/${type}`, accept: 'application/json', 'if-match': '*', ...key }
  const response = await app.inject({ method, url, headers, payload: lines.join('\n') })
  return response.json<{ errors?: readonly Place[] }>().errors?.map(({ line, path }) => [line, path])
}

t.test('each error of a JSON document has the line on which the value at its path starts', async (t) => {
  const { shop, key, order } = await shopWithOrder(t)
  const item = (...members: readonly string[]) => ['{"item": [', '  {', ...members, '  }', ']}']
  const cases: readonly (readonly ['POST' | 'PUT', string, readonly string[], readonly (readonly [number, string])[]])[] = [
    ['POST', '/order', item('"productId": "ABC-1",', '"quantity":', '  "x"'), [[5, '/item/0/quantity']]],
    ['POST', '/order', item('"productId": "NOPE",', '"quantity": 1'), [[3, '/item/0/productId']]],
    ['POST', '/order?dry-run=true', item('"quantity": 1,', '"productId":', '"NOPE"'), [[5, '/item/0/productId']]],
    ['POST', '/order', item('"productId": "ABC-1"'), [[2, '/item/0']]],
    [
      'POST',
      '/order',
      ['', '{', '"note": [],', '"note": []', '}'],
      [
        [2, ''],
        [4, '/note']
      ]
    ],
    ['POST', '/products', ['{"id": "NEW",', '"name": "New",', '"price": 1,', '"gtin": "4006381333930"}'], [[4, '/gtin']]],
    ['PUT', '/product/ABC-1', ['{"name": "Bolt",', '"price":', '"x"', '}'], [[3, '/price']]],
    ['PUT', '/product/ABC-1', ['{"name": "Bolt",', '"price": {"value": "1",', '"currency": "USD"}}'], [[2, '/price']]],
    ['PUT', '/product/ABC-1/stock', ['{', '', '"onHand": "many"}'], [[3, '/onHand']]],
    ['PUT', `${order}/status`, ['{', '"status": "lost"}'], [[2, '/status']]],
    ['PUT', `${order}/status`, ['{"status": "accepted",', '"item": [', '{"line": "7", "note": "Late"}]}'], [[3, '/item/0']]],
    ['POST', '/webhooks', ['{', '"url": "http://127.0.0.1:1/"', '}'], [[2, '/url']]]
  ]
  for (const [method, url, lines, places] of cases)
    t.same(await placesOf(shop, key, method, url, lines), places, `${url} ${lines.join('')}`)
  await shop.app.inject({
    method: 'PUT',
    url: `${order}/status`,
    headers: { ...xml, ...key, 'if-match': '*' },
    payload: status('accepted')
  })
  const shipments = `${order}/shipments`
  t.same(await placesOf(shop, key, 'POST', shipments, ['{"item": [', '{"line": "1",', '"quantity": "x"}]}']), [[3, '/item/0/quantity']])
  t.same(await placesOf(shop, key, 'POST', shipments, ['{"item":', '[{"line": "9"}]}']), [[2, '/item/0']])
  t.same(await placesOf(shop, key, 'POST', shipments, ['{', '"item": []}']), [[2, '/item']])
})

const status = (value: string) => `<order-status><status>${value}</status></order-status>`

t.test('the errors of a JSON document are listed by line, whatever the order of its members', async (t) => {
  const { shop, key } = await shopWithOrder(t)
  const lines = ['{"item": [', '{"quantity": 0,', '"productId": "A B"}', '],', '"urgent": 1,', '"currency": "eur"}']
  t.same(await placesOf(shop, key, 'POST', '/order', lines), [
    [2, '/item/0/quantity'],
    [3, '/item/0/productId'],
    [5, '/urgent'],
    [6, '/currency']
  ])
})

t.test('the lines of a large JSON document are found, and its refusal is valid against the published schema', async (t) => {
  const { shop } = await shopWithOrder(t)
  const items = Array.from({ length: 1_500 }, (_, i) => `{"productId": "NONE-${i}",\n"quantity": 1}`)
  const headers = { 'content-type': 'application/json', accept: 'application/xml' }
  const refused = await shop.app.inject({ method: 'POST', url: '/order', headers, payload: `{"item": [\n${items.join(',\n')}\n]}` })
  t.equal(refused.statusCode, 422)
  t.match(refused.body, '<line>200</line>\n      <path>/item/99/productId</path>')
  t.same(await faultsByPublishedSchema(shop.app, refused.body), [])
})

t.test('the errors of a form have the names of fields and no lines', async (t) => {
  const { shop, key } = await shopWithOrder(t)
  const fields = ['item.1.product-id=NOPE&item.1.quantity=1']
  t.same(await placesOf(shop, key, 'POST', '/order', fields, 'x-www-form-urlencoded'), [[undefined, 'item.1.product-id']])
})
