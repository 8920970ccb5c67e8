import t from 'tap'
import { place, placed, ready } from './drafts.ts'
import { openShop, violations, visit } from './shop.ts'

const [shop, withoutGuests] = await Promise.all([openShop(), openShop({ GUEST_ORDERS: 'off' })])
t.teardown(() => Promise.all([shop.close(), withoutGuests.close()]))

for (const javaScriptEnabled of [false, true]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  t.test(`a guest who must sign in to order reads so in the words of a shop, ${how}`, async (t) => {
    const { page } = await visit(t, withoutGuests, { javaScriptEnabled }, [401])
    await page.goto(`${withoutGuests.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await ready(page)
    await page.getByLabel('Quantity 1').fill('3')
    await place(page)
    const alert = page.getByRole('alert')
    await alert.waitFor()
    t.equal(
      (await alert.innerText()).replace(/\s+/g, ' ').trim(),
      'Sign in to go on You need the key that the shop gave to your company. Sign in in another tab, then send this form again.'
    )
    t.equal(await page.getByLabel('Quantity 1').inputValue(), '3')
    if (javaScriptEnabled) t.same(await violations(page), [])
  })

  t.test(`a form that placed another order says so, and places this one when it is sent again, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [409, 422])
    await page.goto(`${shop.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await ready(page)
    const key = await page.locator('[name=_idempotency-key]').getAttribute('value')
    const other = await fetch(`${shop.url}/order`, {
      method: 'POST',
      headers: { 'content-type': 'application/xml', 'idempotency-key': key ?? '' },
      body: '<purchase-order><item><product-id>EL-MCB-B16</product-id><quantity>1</quantity></item></purchase-order>'
    })
    t.equal(other.status, 201)
    await page.getByLabel('Quantity 1').fill('3')
    await place(page)
    const alert = page.getByRole('alert')
    await alert.waitFor()
    t.match(
      (await alert.innerText()).replace(/\s+/g, ' '),
      /^This form was sent before It placed an order with other content\. To place this order as well, send the form again\./
    )
    await placed(page)
    const { items } = await shop.store.order(new URL(page.url()).pathname.split('/').at(-1) ?? '')
    t.match(items, [{ productId: 'ABC-1', quantity: '3' }])
  })

  t.test(`a form with a key that the service does not accept has another one after the refusal, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [400])
    await page.goto(`${shop.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await ready(page)
    await page.locator('[name=_idempotency-key]').evaluate((input: { value: string }) => {
      input.value = 'too-short'
    })
    await page.getByLabel('Quantity 1').fill('3')
    await place(page)
    await page.getByRole('alert').filter({ hasText: 'The request is malformed' }).waitFor()
    await placed(page)
  })
}
