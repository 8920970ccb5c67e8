import t from 'tap'
import { build } from '../build.ts'
import { item, nothingStored, order, refuse } from '../plugins/refusal.ts'

const at = '/purchase-order'
const bad = item('<product-id>A B</product-id>', '<quantity unit="kg">0</quantity>')

t.test('every error is listed with its own line and path', async (t) => {
  const shop = await build(t)
  const body = order(
    `\n<urgent/>\n<currency>eur</currency>\n${item()}\n<item>\n<product-id>A B</product-id>\n<quantity>0</quantity>\n</item>\n`
  )
  const refusal = await refuse(t, shop, { body, code: 'invalid-document' })
  t.same(
    refusal.errors?.map(({ line, path }) => [line, path]),
    [
      [2, `${at}/urgent`],
      [3, `${at}/currency`],
      [6, `${at}/item[2]/product-id`],
      [7, `${at}/item[2]/quantity`]
    ]
  )
  await nothingStored(t, shop)
})

t.test('each error has its own place even if the whole document is on one line', async (t) => {
  const shop = await build(t)
  const paths = [`${at}/item[1]/quantity`, `${at}/item[2]/product-id`, `${at}/item[2]/quantity`, `${at}/item[2]/quantity`]
  const body = order(`${item(undefined, '<quantity>-1</quantity>')}${bad}`)
  const refusal = await refuse(t, shop, { body, code: 'invalid-document', paths })
  t.ok(refusal.errors?.every(({ line }) => line === 1))
})

t.test('the elements behind a misplaced or unknown one are validated too', async (t) => {
  const shop = await build(t)
  const zero = item(undefined, '<quantity>0</quantity>')
  const cases: Readonly<Record<string, readonly string[]>> = {
    [`<currency>EUR</currency><order-number>1</order-number>${zero}`]: ['order-number', 'item/quantity'],
    [`<x/>${zero}<y/>${zero}`]: ['x', 'item[1]/quantity', 'y', 'item[2]/quantity'],
    [`${zero}<note>a</note>${zero}<buyer/>${zero}`]: ['item[1]/quantity', 'note', 'item[2]/quantity', 'buyer', 'item[3]/quantity'],
    [`<currency>EUR</currency><currency>eur</currency>${zero}`]: ['currency[2]', 'currency[2]', 'item/quantity'],
    [`<item><quantity>1</quantity><quantity>2</quantity><product-id>A</product-id></item>${zero}`]: [
      'item[1]/quantity[1]',
      'item[1]/quantity[2]',
      'item[2]/quantity'
    ]
  }
  for (const [content, paths] of Object.entries(cases)) {
    await refuse(t, shop, { body: order(content), code: 'invalid-document', paths: paths.map((path) => `${at}/${path}`) })
  }
})

t.test('at most 100 errors are listed, none twice, the first of the document first', async (t) => {
  const shop = await build(t)
  const refusal = await refuse(t, shop, { body: order(bad.repeat(10_000)), code: 'invalid-document', detail: /first 100 errors/ })
  t.equal(refusal.errors?.length, 100)
  t.equal(new Set(refusal.errors?.map(({ path, detail }) => `${path} ${detail}`)).size, 100)
  t.same(
    refusal.errors?.slice(0, 3).map(({ path }) => path),
    [`${at}/item[1]/product-id`, `${at}/item[1]/quantity`, `${at}/item[1]/quantity`]
  )
  const unknown = await refuse(t, shop, { body: order('<a/>'.repeat(90_000)), code: 'invalid-document' })
  t.equal(unknown.errors?.length, 100)
})

t.test('an error far behind the 65,535th line and element has its line and path', async (t) => {
  const shop = await build(t)
  const lines = `${'\n'.repeat(8)}${item()}`
  const refusal = await refuse(t, shop, { body: order(`${lines.repeat(9_000)}\n${bad}`), code: 'invalid-document' })
  t.same(
    refusal.errors?.map(({ line, path }) => [line, path]),
    [
      [72_002, `${at}/item[9001]/product-id`],
      [72_002, `${at}/item[9001]/quantity`],
      [72_002, `${at}/item[9001]/quantity`]
    ]
  )
  const notes = item(undefined, undefined, '<note/>'.repeat(9)).repeat(7_000)
  await refuse(t, shop, { body: order(`${notes}${bad}`), code: 'invalid-document', path: `${at}/item[7001]/product-id`, line: 1 })
})

t.test('a product that is short or unknown is named with its line and path', async (t) => {
  const shop = await build(t)
  const body = order(`\n${item()}\n${item('<product-id>NONE</product-id>')}\n${item(undefined, '<quantity unit="KGM">1</quantity>')}`)
  const refusal = await refuse(t, shop, { body, code: 'invalid-order' })
  t.same(
    refusal.errors?.map(({ line, path, code }) => [line, path, code]),
    [
      [3, `${at}/item[2]/product-id`, 'unknown-product'],
      [4, `${at}/item[3]/quantity`, 'wrong-unit']
    ]
  )
  await refuse(t, shop, {
    body: order(`\n\n${item(undefined, '<quantity>101</quantity>')}`),
    code: 'order-refused',
    line: 3,
    path: `${at}/item/quantity`
  })
  await nothingStored(t, shop)
})

t.test("the shop's refusals are listed in the order of the lines, for any reason", async (t) => {
  const shop = await build(t)
  const priced = item(undefined, '\n<quantity>60</quantity>', '\n<unit-price>1</unit-price>')
  const unit = item(undefined, '<quantity unit="KGM">1</quantity>')
  const body = order(`\n<currency>USD</currency>\n${priced}\n${item('<product-id>NONE</product-id>')}\n${priced}\n${unit}`)
  const refusal = await refuse(t, shop, { body, code: 'invalid-order' })
  t.same(
    refusal.errors?.map(({ line, code }) => [line, code]),
    [
      [2, 'wrong-currency'],
      [4, 'out-of-stock'],
      [5, 'price-changed'],
      [6, 'unknown-product'],
      [8, 'out-of-stock'],
      [9, 'price-changed'],
      [10, 'wrong-unit'],
      [10, 'out-of-stock']
    ]
  )
  await nothingStored(t, shop)
})
