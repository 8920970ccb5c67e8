import t, { type Test } from 'tap'
import { build, draft } from '../build.ts'
import { hidden, html, line, placedUri, post } from './form-post.ts'

/** A shop whose product costs 9.99 on the page of a new order, and then more. */
async function shopWithRise(t: Test) {
  const { app, store } = await build(t, { products: { 'ABC-1': {}, 'ABC-2': { price: '4' as never } } })
  const page = async (url: string) => (await app.inject({ url, headers: html })).body
  return { app, page, rise: () => store.putProduct('ABC-1', draft({ price: '12' as never }), {}) }
}

/** What a page sends: its hidden fields, such as the prices that it shows. */
function hiddenFields(body: string): Record<string, string> {
  return Object.fromEntries(
    [...body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(([, name, value]) => [name, value])
  )
}

t.test('a form orders at the price that it shows, or comes back with the new one', async (t) => {
  const { app, page, rise } = await shopWithRise(t)
  const form = hiddenFields(await page('/order?product=ABC-1'))
  t.equal(form['_price.1'], 'ABC-1 9.99')
  await rise()
  const refused = await post(app, '/order', { ...form, ...line })
  t.equal(refused.statusCode, 409)
  t.match(refused.body, /Line 1: <a href="#item\.1\.product-id">ABC-1 costs 12 EUR, not the expected 9\.99\./)
  t.match(refused.body, '€12.00 each')
  const again = await post(app, '/order', { ...hiddenFields(refused.body), ...line })
  t.match(await page(placedUri(again)), '€36.00')
})

t.test('a price is expected only of the product that it was shown for', async (t) => {
  const { app, page } = await shopWithRise(t)
  const form = hiddenFields(await page('/order?product=ABC-1&product=ABC-2'))
  t.equal(form['_price.2'], 'ABC-2 4')
  const other = await post(app, '/order', { ...form, 'item.1.product-id': 'ABC-2', 'item.1.quantity': '2' })
  t.match(await page(placedUri(other)), '€8.00', 'another product was typed, and the second line was cleared')
})

t.test('an order that was checked is placed at the prices that were shown', async (t) => {
  const { app, page, rise } = await shopWithRise(t)
  const typed = {
    'item.1.note.1': '',
    'item.2.product-id': 'ABC-1',
    'item.2.quantity': '3',
    'item.4.product-id': 'ABC-2',
    'item.4.quantity': '1'
  }
  const key = hidden(await page('/order'), '_idempotency-key') ?? ''
  const checked = await post(app, '/order?dry-run=true', { ...typed, '_idempotency-key': key, '_price.4': 'ABC-2 4' })
  t.equal(checked.statusCode, 200)
  const form = hiddenFields(checked.body)
  t.match(form, { '_price.2': 'ABC-1 9.99', '_price.4': 'ABC-2 4', '_idempotency-key': key })
  await rise()
  const refused = await post(app, '/order', form)
  t.equal(refused.statusCode, 409)
  t.match(refused.body, /Line \d: <a href="#item\.2\.product-id">ABC-1 costs 12 EUR, not the expected 9\.99\./)
  t.equal(hiddenFields(refused.body)['_price.2'], 'ABC-1 12')
  placedUri(await post(app, '/order', { ...typed, ...hiddenFields(refused.body) }))
})

t.test('a price that something else has sent comes back as the one that is shown', async (t) => {
  const { app } = await shopWithRise(t)
  const refused = await post(app, '/order', { ...line, 'item.1.unit-price': '9' })
  t.equal(refused.statusCode, 409)
  const fields = hiddenFields(refused.body)
  t.same([fields['item.1.unit-price'], fields['_price.1']], [undefined, 'ABC-1 9.99'])
})

t.test('the form of a change expects no prices: what was ordered keeps its own', async (t) => {
  const { app, page, rise } = await shopWithRise(t)
  const uri = placedUri(await post(app, '/order', line))
  await rise()
  const form = await page(`${uri}?form=change`)
  t.match(form, '€9.99 each, more at €12.00')
  t.notMatch(form, '_price.')
})

t.test('a line says that its product is not in stock', async (t) => {
  const shop = await build(t, { products: { GONE: { onHand: '0' as never }, LATER: { onHand: '0' as never, backorder: true }, HERE: {} } })
  const { body } = await shop.app.inject({ url: '/order?product=GONE&product=LATER&product=HERE', headers: html })
  t.same(
    [...body.matchAll(/<bdi>Hex bolt<\/bdi>, ([^<]*)/g)].map(([, text]) => text),
    ['€9.99 each, out of stock', '€9.99 each, on backorder', '€9.99 each']
  )
})
