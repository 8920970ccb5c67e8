import t from 'tap'
import { build } from '../build.ts'
import { nothingStored, type Refusal, refusals, refuse } from './refusal.ts'

const json = { 'content-type': 'application/json' }
const item = { productId: 'ABC-1', quantity: '1' }
const written = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const malformed = (body: string | Buffer, detail: RegExp, line = 1): Refusal => ({
  body,
  headers: json,
  code: 'malformed-document',
  detail,
  line
})
const invalid = (value: unknown, path: string, detail: RegExp): Refusal => ({
  body: written(value),
  headers: json,
  code: 'invalid-document',
  path,
  detail
})
const quantity = (value: unknown, detail = /"quantity" is .*above 0/) =>
  invalid({ item: [{ ...item, quantity: value }] }, '/item/0/quantity', detail)
const numeral = (text: string): Refusal => ({
  ...quantity('0', new RegExp(`"quantity" is "${text.slice(0, 40).replace('.', '\\.')}`)),
  body: `{"item":[{"productId":"ABC-1","quantity":${text}}]}`
})
const quoted = /in double quotes, so that no digit/

t.test('a JSON order that cannot be read', (t) =>
  refusals(t, {
    '650,000 empty arrays': malformed(`{"item":[${'[],'.repeat(650_000)}[]]}`, /more than 400000 values/),
    'an empty body': { body: '', headers: json, code: 'malformed-document', detail: /empty/ },
    'white space': { body: ' \n', headers: json, code: 'malformed-document', detail: /empty/ },
    'a text that is cut off': malformed('{"item":\n[', /ends too early/, 2),
    'a text without quotes': malformed('{"item": hello}', /Expected a value/),
    'single quotes': malformed("{'item': []}", /name of a member in double quotes/),
    'a comma too many': malformed('{"item": [],\n}', /name of a member/, 2),
    'a comma too few': malformed('{"item": []\n"note": []}', /Expected a comma/, 2),
    'a comment': malformed('{"item": [] /* a */}', /Expected a comma/),
    'a colon too few': malformed('{"item" []}', /Expected a colon/),
    'two documents': malformed('{} {}', /after the end/),
    'a number with a leading zero': malformed(
      '{"quantity": 007}',
      /A number must not begin with 0 before another digit: write 7, not 07\./
    ),
    'two zeros': malformed('{"quantity": 00}', /A number must not begin with 0/),
    NaN: malformed('{"quantity": NaN}', /Expected a value/),
    'a line end in a string': malformed('{"note": ["a\nb"]}', /must be escaped/),
    'an escape that is none': malformed('{"note": ["\\x"]}', /backslash/),
    'Latin-1': { body: Buffer.from('{"note":["é"]}', 'latin1'), headers: json, code: 'malformed-document', detail: /UTF-8/ },
    'UTF-16': { body: Buffer.from('\ufeff{}', 'utf16le'), headers: json, code: 'malformed-document', detail: /UTF-8/ },
    '100,000 levels': malformed('['.repeat(100_000), /nested more than 100 deep/),
    'a body of 3 MB': { body: JSON.stringify({ note: ['a'.repeat(3_000_000)] }), headers: json, code: 'body-too-large' }
  })
)

t.test('a JSON order that is not as the schema has it', (t) =>
  refusals(t, {
    null: invalid('null', '', /must be an object with orderNumber/),
    'a string': invalid('"a"', '', /must be an object/),
    'an array': invalid('[]', '', /must be an object/),
    'an object without items': invalid({}, '', /^The document is not complete: it needs "item"\.$/m),
    'no item in the array': invalid({ item: [] }, '', /needs "item"/),
    'an item that is not in an array': invalid({ item }, '/item', /must be an array/),
    'an item that is a string': invalid({ item: ['ABC-1'] }, '/item/0', /must be an object with lineId, productId/),
    'an item that is an array': invalid({ item: [[]] }, '/item/0', /must be an object/),
    'an item that is null': invalid({ item: [null] }, '/item/0', /must be an object/),
    'an item without product': invalid({ item: [{ quantity: '1' }] }, '/item/0', /needs "productId" or "gtin"/),
    'an item by productId and gtin': invalid(
      { item: [{ ...item, gtin: '4006381333931' }] },
      '/item/0/gtin',
      /"productId" or "gtin" in "item", not both/
    ),
    'a quantity of 0': quantity('0'),
    'a quantity of -1': quantity('-1'),
    'a quantity of 1e3': quantity('1e3'),
    'a quantity of NaN': quantity('NaN'),
    'a quantity of 0.0001': quantity('0.0001'),
    'an empty quantity': quantity('', /"quantity" is empty/),
    'a quantity of the number 1e3': numeral('1e3'),
    'a quantity of the number 2e0': numeral('2e0'),
    'a quantity of the number 0': numeral('0'),
    'a quantity of the number -0': numeral('-0'),
    'a quantity of the number -1': numeral('-1'),
    'a quantity of the number 2.5000': numeral('2.5000'),
    'a quantity of the number 1234567890': numeral('1234567890'),
    'a quantity of a number of many digits': numeral(`1.${'0'.repeat(400)}1`),
    'a quantity whose value is the number 1e0': {
      ...numeral('1e0'),
      body: '{"item":[{"productId":"ABC-1","quantity":{"value":1e0}}]}',
      path: '/item/0/quantity'
    },
    'a price of the number 9.99999': invalid({ item: [{ ...item, unitPrice: 9.99999 }] }, '/item/0/unitPrice', /"unitPrice" is "9\.99999"/),
    'an order number that is a number': invalid('{"orderNumber":42,"item":[]}', '/orderNumber', quoted),
    'a product id that is a number': invalid({ item: [{ ...item, productId: 1 }] }, '/item/0/productId', quoted),
    'a GTIN that is a number': invalid({ item: [{ gtin: 4006381333931, quantity: '1' }] }, '/item/0/gtin', quoted),
    'a quantity that is true': quantity(true, /must be a string or a number/),
    'a quantity that is an array': quantity(['1'], /must be a string or a number/),
    'a quantity without value': quantity({ unit: 'C62' }, /"quantity" is empty/),
    'a unit that is none': quantity({ value: '1', unit: 'kg' }, /"unit" of "quantity" is "kg"/),
    'a unit that is a number': invalid({ item: [{ ...item, quantity: { value: '1', unit: 1 } }] }, '/item/0/quantity/unit', quoted),
    'a product id of ..': invalid({ item: [{ ...item, productId: '..' }] }, '/item/0/productId', /"productId" is ".."/),
    'a GTIN with a wrong check digit': invalid({ item: [item, { gtin: '4006381333930', quantity: '1' }] }, '/item/1/gtin', /check digit/),
    'a text that is an object': invalid({ orderNumber: { value: '1' }, item: [item] }, '/orderNumber', /must be a string/),
    'an unknown member': invalid({ urgent: true, item: [item] }, '/urgent', /no "urgent" here. The names that can be used are orderNumber/),
    'an unknown member with a slash and a tilde': invalid({ 'a/b~c': '', item: [item] }, '/a~1b~0c', /no "a\/b~c"/),
    'the name that XML has': invalid({ 'order-number': '1', item: [item] }, '/order-number', /orderNumber/),
    'a member named __proto__': invalid(
      '{"__proto__":{"item":[]},"item":[{"productId":"ABC-1","quantity":"1"}]}',
      '/__proto__',
      /no "__proto__"/
    ),
    'a member named constructor': invalid({ constructor: 'a', item: [item] }, '/constructor', /no "constructor"/),
    'a member named toString in an item': invalid({ item: [{ ...item, toString: 'a' }] }, '/item/0/toString', /no "toString"/),
    'a member twice': invalid('{"item":[{"productId":"ABC-1","quantity":"1","quantity":"5"}]}', '/item/0/quantity', /more than once/),
    'a member twice, once in escapes': invalid(
      '{"item":[{"productId":"ABC-1","quantity":"1","quantit\\u0079":"5"}]}',
      '/item/0/quantity',
      /more than once/
    ),
    'half a character': invalid('{"note":["\\ud800"],"item":[]}', '/note/0', /lone surrogate/),
    'a control character': invalid('{"note":["\\u0001"],"item":[]}', '/note/0', /control character/),
    'a character that is none': invalid('{"note":["\\uffff"],"item":[]}', '/note/0', /no document can hold/),
    'a note of 100 KB': invalid({ note: ['a'.repeat(100_000)], item: [item] }, '/note/0', /100000 characters.*up to 4000/),
    '101 notes': invalid({ note: Array(101).fill('a'), item: [item] }, '/note/100', /at most 100 "note" in the document\./),
    'an extension without name': invalid({ extension: [{ value: 'a' }], item: [item] }, '/extension/0', /"name"/),
    'a date that is none': invalid({ issueDate: '2026-02-30', item: [item] }, '/issueDate', /such as 2026-11-20/),
    '10,001 items': invalid({ item: Array(10_001).fill(item) }, '/item/10000', /10000 items at most/),
    '300,000 empty items': {
      body: JSON.stringify({ item: Array(300_000).fill({}) }),
      headers: json,
      code: 'invalid-document',
      detail: /more than 200000 elements/
    }
  })
)

t.test('a JSON order is placed whatever the order of its members; null is a member that is not there', async (t) => {
  const { app, store } = await build(t)
  const payload = {
    item: [{ note: [], quantity: { unit: 'C62', value: '2' }, productId: 'ABC-1', unitPrice: null }, item],
    currency: null,
    note: ['a\r\nb', ''],
    buyer: { address: { country: 'DE' }, name: 'A & B <C>' },
    orderNumber: '1'
  }
  const response = await app.inject({ method: 'POST', url: '/order', headers: json, payload: `\ufeff${JSON.stringify(payload)}` })
  t.equal(response.statusCode, 201, response.body)
  const [placed] = (await store.orders({ limit: 1 })).items
  const order = await store.order(placed?.id ?? '')
  t.same(order.notes, ['a\r\nb', ''])
  t.same(order.buyer, { name: 'A & B <C>', address: { country: 'DE' } })
  t.same(
    order.items.map(({ quantity }) => quantity),
    ['2', '1']
  )
})

t.test('a number is read as it is written, where the schema has a number', async (t) => {
  const { app, store, key } = await build(t, { products: { 'ABC-1': { unit: 'KGM' } } })
  const seller = await key('Seller', 'catalogue')
  for (const [written, stored] of [
    ['2', '2'],
    ['2.50', '2.50'],
    ['0.001', '0.001'],
    ['{"value":1.000,"unit":"KGM"}', '1.000']
  ] as const) {
    const payload = `{"item":[{"productId":"ABC-1","quantity":${written},"unitPrice":9.99}]}`
    const response = await app.inject({ method: 'POST', url: '/order', headers: json, payload })
    t.equal(response.statusCode, 201, `${written}: ${response.body}`)
    t.equal((await store.orders({ limit: 1, lines: true })).items[0]?.lines?.[0]?.quantity, stored, written)
    t.equal(response.json<{ item: { quantity: { value: unknown } }[] }>().item[0]?.quantity.value, stored, 'and answered as a string')
  }
  const exact = '{"name":"N","version":1,"price":999999999999.9999,"onHand":-0.125}'
  const put = await app.inject({ method: 'PUT', url: '/product/EXACT', headers: { ...json, ...seller }, payload: exact })
  t.equal(put.statusCode, 201, put.body)
  t.equal((await store.product('EXACT')).price, '999999999999.9999', 'no digit is lost')
  t.equal((await store.stock('EXACT')).onHand, '-0.125')
})

t.test('everything that is wrong with a JSON order is listed at once, each once', async (t) => {
  const shop = await build(t)
  const value = {
    urgent: 1,
    currency: 'eur',
    item: [
      { ...item, quantity: true },
      { productId: 'A B', quantity: '0' }
    ]
  }
  const paths = ['/urgent', '/currency', '/item/0/quantity', '/item/1/productId', '/item/1/quantity']
  await refuse(t, shop, { body: JSON.stringify(value), headers: json, code: 'invalid-document', paths })
  const many = await refuse(t, shop, {
    body: JSON.stringify({ item: Array(5000).fill({ x: 1 }) }),
    headers: json,
    code: 'invalid-document'
  })
  t.equal(many.errors?.length, 100)
  const repeated = `{${'"note":[],'.repeat(200)}"item":[${JSON.stringify(item)}]}`
  await refuse(t, shop, { body: repeated, headers: json, code: 'invalid-document', paths: ['/note'] })
  await nothingStored(t, shop)
})

t.test('each fault of a JSON order has its pointer', async (t) => {
  const shop = await build(t)
  const value = { item: [item, { ...item, productId: 'NONE' }, { ...item, quantity: { value: '1', unit: 'KGM' } }] }
  await refuse(t, shop, {
    body: JSON.stringify(value),
    headers: json,
    code: 'invalid-order',
    paths: ['/item/1/productId', '/item/2/quantity']
  })
})
