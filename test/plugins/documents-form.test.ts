import t from 'tap'
import { build, form, orderXml } from '../build.ts'
import { nothingStored, type Refusal, refusals, refuse } from './refusal.ts'

const valid = 'item.1.product-id=ABC-1&item.1.quantity=1'
const invalid = (body: string, path: string, detail: RegExp): Refusal => ({ body, headers: form, code: 'invalid-document', path, detail })
const malformed = (body: string | Buffer, detail: RegExp): Refusal => ({ body, headers: form, code: 'malformed-document', detail })

t.test('a form that is no valid order', (t) =>
  refusals(t, {
    'an empty form': invalid('', '', /^The document is not complete: it needs item\.$/m),
    'a form of blank fields': invalid('item.1.product-id=&item.1.quantity=+&note.1=', '', /needs item/),
    'a quantity of 0': invalid(
      'item.3.product-id=ABC-1&item.3.quantity=0',
      'item.3.quantity',
      /quantity is "0"; it must be a number above 0/
    ),
    'an item without product': invalid('item.1.quantity=1', 'item.1', /needs product-id or gtin/),
    'an unknown field': invalid(`${valid}&urgent=1`, 'urgent', /no "urgent" here. The names that can be used are order-number/),
    'an unknown field in an item': invalid(`${valid}&item.1.price=1`, 'item.1.price', /no "price"/),
    'a field named __proto__': invalid(`${valid}&item.1.__proto__=1`, 'item.1.__proto__', /no "__proto__"/),
    'a field named constructor.prototype': invalid(`${valid}&constructor.prototype.a=1`, 'constructor', /no "constructor"/),
    'a field of parts where a text belongs': invalid(`${valid}&currency.a.b=EUR`, 'currency', /no parts/),
    'a text where parts belong': invalid(`${valid}&buyer=me`, 'buyer', /parts: name, contact, email/),
    'an item that is not numbered': invalid(`${valid}&item.x.quantity=1`, 'item.x', /item\.1, item\.2/),
    'a field twice': invalid(`${valid}&item.1.quantity=5`, 'item.1.quantity', /more than once/),
    'a field twice, by its other name': invalid(`${valid}&item.1.quantity.value=5`, 'item.1.quantity.value', /more than once/),
    'a field twice, by another number for its row': invalid(`${valid}&item.01.quantity=5`, 'item.01', /more than once/),
    'a field of a million parts': invalid(`${valid}&${'a.'.repeat(1_000_000)}=1`, `${'a.'.repeat(128)}…`, /no "a\./),
    'a field 210,000 times': invalid(`${valid}${'&note.1=x'.repeat(210_000)}`, 'note.1', /more than once/),
    'a percent sign alone': malformed(`${valid}&note.1=100%`, /percent sign/),
    'percent-encoded Latin-1': malformed(`${valid}&note.1=%E9`, /percent sign/),
    'Latin-1 as it is': malformed(Buffer.from(`${valid}&note.1=é`, 'latin1'), /UTF-8/),
    'a NUL character': invalid(`${valid}&note.1=%00`, 'note.1', /control character/),
    'a GTIN with a wrong check digit': invalid('item.7.gtin=4006381333930&item.7.quantity=1', 'item.7.gtin', /check digit/),
    'a form of 3 MB': { body: `${valid}&note.1=${'a'.repeat(3_000_000)}`, headers: form, code: 'body-too-large' }
  })
)

t.test("a document with a form's Content-Type is 415, in the document's own notation (RFC 9110 15.5.16)", async (t) => {
  const shop = await build(t)
  const { app } = shop
  const java = 'text/html, image/gif, image/jpeg, */*; q=0.2'
  const json = '{"item":[{"productId":"ABC-1","quantity":1}]}'
  for (const [body, notation] of [
    [orderXml(), 'xml'],
    [`\ufeff \r\n\t<?xml version="1.0"?>${orderXml()}`, 'xml'],
    ['<', 'xml'],
    [json, 'json'],
    [`\ufeff\n${json}`, 'json'],
    ['[]', 'json']
  ] as const) {
    for (const accept of ['*/*', java]) {
      const response = await app.inject({ method: 'POST', url: '/order', headers: { ...form, accept }, payload: body })
      t.equal(response.statusCode, 415, `${body} ${accept}`)
      t.equal(response.headers['content-type'], `application/problem+${notation}`)
      t.match(response.headers['accept-post'], /application\/xml.*application\/json/)
      t.match(response.body, `-H 'content-type: application/${notation}'`)
    }
  }
  for (const url of ['/order/unknown', '/session']) {
    const response = await app.inject({ method: 'POST', url, headers: { ...form, accept: 'text/html, */*;q=0.1' }, payload: orderXml() })
    t.match(response, { statusCode: 415, headers: { 'accept-post': form['content-type'] }, body: /This URI accepts HTML forms only/ }, url)
  }
  const put = await app.inject({ method: 'PUT', url: '/order/unknown', headers: form, payload: orderXml() })
  t.match(put, { statusCode: 415, body: /-H 'content-type: application\/xml'/ }, 'also where no form is read')
  await nothingStored(t, shop)
})

t.test('a form becomes an order: rows close up, blank ones are left out, line ends are LF, the form keeps its own fields', async (t) => {
  const { app, store } = await build(t)
  const fields = new URLSearchParams({
    '_more-rows': '3',
    'item.10.product-id': 'ABC-1',
    'item.10.quantity': ' 10 ',
    'item.2.product-id': 'ABC-1',
    'item.2.quantity': '2',
    'item.2.quantity.unit': 'C62',
    'item.5.product-id': '',
    'item.5.quantity': '',
    'note.1': 'first\r\nsecond',
    'extension.1': 'value',
    'extension.1.name': 'cost-centre',
    'buyer.address.city': 'Köln + Bonn'
  })
  const response = await app.inject({ method: 'POST', url: '/order', headers: form, payload: fields.toString() })
  t.equal(response.statusCode, 303, response.body)
  const [placed] = (await store.orders({ limit: 1 })).items
  const order = await store.order(placed?.id ?? '')
  t.same(
    order.items.map(({ quantity }) => quantity),
    ['2', '10']
  )
  t.same(order.notes, ['first\nsecond'])
  t.same(order.extensions, [{ name: 'cost-centre', value: 'value' }])
  t.same(order.buyer?.address, { city: 'Köln + Bonn' })
})

t.test('errors carry the names of fields as they were sent, gaps in the numbering included', async (t) => {
  const shop = await build(t)
  const body = 'item.9.product-id=NONE&item.9.quantity=1&item.4.product-id=ABC-1&item.4.quantity=1000'
  await refuse(t, shop, { body, headers: form, code: 'invalid-order', paths: ['item.4.quantity', 'item.9.product-id'] })
  await refuse(t, shop, { body: `${valid}${'&note.1=a'.repeat(200)}`, headers: form, code: 'invalid-document', paths: ['note.1'] })
})

t.test('errors of a form come in the order of its lines, whatever is wrong with each, and however its fields were sent', async (t) => {
  const shop = await build(t)
  const wrong = [
    'item.3.product-id=NO+NE&item.3.quantity=1',
    'item.10.product-id=ABC-1&item.10.quantity=0&item.10.colour=red',
    'item.2.product-id=ABC-1&item.2.quantity=1&item.2.quantity=2',
    'item.1.product-id=ABC-1&item.1.quantity=x',
    'currency=eur',
    'note.1=%00'
  ].join('&')
  const paths = ['currency', 'note.1', 'item.1.quantity', 'item.2.quantity', 'item.3.product-id', 'item.10.colour', 'item.10.quantity']
  await refuse(t, shop, { body: wrong, headers: form, code: 'invalid-document', paths })
  const refused = [
    'item.1.product-id=ABC-1&item.1.quantity=60',
    'item.2.product-id=NONE&item.2.quantity=1',
    'item.3.product-id=ABC-1&item.3.quantity=50&item.3.unit-price=1',
    'item.4.product-id=ABC-1&item.4.quantity=1&item.4.quantity.unit=KGM',
    'currency=USD'
  ].join('&')
  await refuse(t, shop, {
    body: refused,
    headers: form,
    code: 'invalid-order',
    paths: [
      'currency',
      'item.1.quantity',
      'item.2.product-id',
      'item.3.unit-price',
      'item.3.quantity',
      'item.4.quantity',
      'item.4.quantity'
    ]
  })
})
