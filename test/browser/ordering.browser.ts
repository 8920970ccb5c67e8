import t from 'tap'
import { follow, openShop, signIn, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())

for (const javaScriptEnabled of [false, true]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  t.test(`a person finds a product and orders it, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    await page.goto(`${shop.url}/`)
    await page.getByRole('link', { name: 'Products' }).first().click()
    await page.getByRole('searchbox').fill('hex bolt')
    await page.getByRole('button', { name: 'Search' }).click()
    await page
      .getByRole('link', { name: /Hex bolt M8/ })
      .first()
      .click()
    await page.getByRole('link', { name: 'Order this product' }).click()
    t.equal(await page.getByLabel('Product 1').inputValue(), 'ABC-1', 'the form starts with the product')
    await page.getByLabel('Quantity 1').fill('3')
    await page.getByLabel('Name').first().fill('Müller & Söhne GmbH')
    await page.getByLabel('Note').fill('Line one\nLine two')
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
    t.ok(await page.getByText('Your order is placed.').isVisible())
    const [keep, headline] = await Promise.all(
      [page.getByText('Keep the address of this page'), page.locator('.headline')].map((one) => one.boundingBox())
    )
    t.ok(keep && headline && keep.y < headline.y, 'a guest is told first how to come back')
    t.match(await page.locator('tfoot').textContent(), '€29.97')
    t.match(await page.locator('main').textContent(), 'Müller & Söhne GmbH')
    const orders = (await shop.store.orders({ limit: 100 })).items.length
    await page.reload()
    t.equal((await shop.store.orders({ limit: 100 })).items.length, orders, 'reloading orders nothing')
  })

  t.test(`errors are shown beside their fields, and the input is kept, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [404, 409, 422])
    await page.goto(`${shop.url}/order`)
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Product 1').fill('NO-SUCH')
    await page.getByLabel('Quantity 1').fill('2')
    await page.getByLabel('Product 2').fill('ABC-1')
    await page.getByLabel('Quantity 2').fill('999999')
    await page.getByLabel('Order number').fill('PO-77')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByRole('alert').waitFor()
    t.match(await page.getByRole('alert').textContent(), /Line 1: There is no product "NO-SUCH"/)
    const wrong = page.getByLabel('Product 1')
    t.equal(await wrong.getAttribute('aria-invalid'), 'true')
    t.match(await page.locator(`[id="${await wrong.getAttribute('aria-describedby')}"]`).textContent(), /NO-SUCH/)
    t.equal(await wrong.inputValue(), 'NO-SUCH')
    t.equal(await page.getByLabel('Order number').inputValue(), 'PO-77')
    await page.getByRole('alert').getByRole('link').first().click()
    await page.locator('[id="item.1.product-id"]:focus').waitFor()
    t.equal(await page.evaluate('document.activeElement.id'), 'item.1.product-id', 'the summary leads to the field')

    await wrong.fill('')
    await page.getByLabel('Quantity 1').fill('')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByText('not enough').first().waitFor()
    t.equal(await page.getByLabel('Quantity 2').getAttribute('aria-invalid'), 'true')
    await page.getByLabel('Quantity 2').fill('2')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
    t.match(await page.locator('h1').textContent(), 'PO-77')
  })

  t.test(`more lines than the form has, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    await page.goto(`${shop.url}/order`)
    await page.getByLabel('Product 1').fill('ABC-1')
    await page.getByRole('button', { name: 'More lines' }).click()
    await page.getByLabel('Product 5').waitFor()
    t.equal(await page.getByLabel('Product 1').inputValue(), 'ABC-1')
    await page.getByLabel('Quantity 1').fill('1')
    await page.getByLabel('Product 5').fill('ABC-1')
    await page.getByLabel('Quantity 5').fill('2')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
    t.equal(await page.locator('tbody tr').count(), 2)
  })

  t.test(`an order is changed, then cancelled, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [412])
    const { order } = await shop.store.placeOrder({
      order: {
        items: [{ product: { productId: 'ABC-1' }, quantity: '1' as never, notes: ['left'] }],
        notes: ['a note'],
        extensions: [{ name: 'cost-centre', value: '4711' }]
      },
      status: 'accepted'
    })
    const uri = `${shop.url}/order/${order.id}`
    await page.goto(uri)
    const stale = await page.context().newPage()
    await stale.goto(`${uri}?form=change`)
    await page.getByRole('link', { name: 'Change this order' }).click()
    await page.getByLabel('Quantity 1').fill('4')
    await page.getByRole('button', { name: 'Change the order' }).last().click()
    await page.waitForURL(`${uri}#done`)
    t.match(await page.locator('tfoot').textContent(), '€39.96')
    t.match(await page.locator('main').textContent(), /4711/, 'what the form does not ask for stays')
    t.match(await page.locator('tbody').textContent(), 'left')

    await stale.getByLabel('Quantity 1').fill('9')
    await stale.getByRole('button', { name: 'Change the order' }).last().click()
    await stale.getByRole('alert').waitFor()
    t.match(await stale.getByRole('alert').textContent(), /Somebody else changed/)
    t.equal(await stale.getByLabel('Quantity 1').inputValue(), '9', 'what was typed is kept')

    await page.getByText('Cancel this order…').click()
    await page.getByRole('button', { name: 'Cancel the order now' }).click()
    await page.locator('.headline').filter({ hasText: 'Cancelled' }).waitFor()
    t.equal((await shop.store.order(order.id)).status, 'cancelled')
  })
}

t.test('the script shows the running total and sends a real purchase-order document', async (t) => {
  const { page } = await visit(t, shop)
  const sent: { type: string | undefined; key: string | undefined; body: string }[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST')
      sent.push({ type: request.headers()['content-type'], key: request.headers()['idempotency-key'], body: request.postData() ?? '' })
  })
  await page.goto(`${shop.url}/order`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await page.getByLabel('Product 1').fill('ABC-1')
  await page.getByLabel('Quantity 1').fill('3')
  await page.getByLabel('Product 2').fill('EL-H07RN-5G2.5')
  await page.getByLabel('Quantity 2').fill('2.5')
  // The field still has the focus.
  await page.getByText('€40.44').waitFor()
  t.match(await page.locator('#total').textContent(), '€40.44', '29.97 + 2.5 × 4.1875 rounded half up, exactly')
  await page.getByLabel('Note').fill('<b> & "quotes"')
  await page.getByText('Show the XML').click()
  const shown = page.locator('pre.document')
  // <details> tells that it was opened by a task of its own, so what it shows comes a moment after the click.
  await shown.filter({ hasText: '</purchase-order>' }).waitFor()
  t.match(await shown.textContent(), /<quantity>2\.5<\/quantity>[\s\S]*<\/purchase-order>/)
  await page.getByLabel('Product 3').fill('FX-4032-M8-A2')
  t.match(await shown.textContent(), '<product-id>FX-4032-M8-A2</product-id>', 'it follows what is typed')
  await page.getByRole('button', { name: 'Remove line 3' }).click()
  t.notMatch(await shown.textContent(), 'FX-4032-M8-A2', 'a line that was removed is not shown as sent')
  await page.getByRole('button', { name: 'Place the order' }).last().click()
  await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
  t.equal(sent.length, 1)
  t.match(sent[0]?.type, 'application/xml')
  t.match(sent[0]?.key, /^[0-9a-f-]{32,36}$/)
  t.match(sent[0]?.body, /<note>&lt;b&gt; &amp; "quotes"<\/note>\s*<item>/, 'notes stand before items, as the schema has it')
  t.match(await page.locator('main').textContent(), '<b> & "quotes"')
})

t.test('the products go on from page to page by their links', async (t) => {
  const { page } = await visit(t, shop, { javaScriptEnabled: false })
  await page.goto(`${shop.url}/products?limit=20`)
  const seen = new Set<string>()
  for (let pages = 0; pages < 10; pages++) {
    for (const name of await page.locator('tbody .code').allTextContents()) seen.add(name)
    const next = page.getByRole('link', { name: 'Next page' })
    if ((await next.count()) === 0) break
    await follow(page, next)
  }
  t.equal(seen.size, (await shop.store.products({ limit: 1000 })).items.length)
  await follow(page, page.getByRole('link', { name: 'First page' }))
  t.equal(await page.locator('tbody tr').count(), 20)
})

t.test("a person who signs in orders as the customer, and the seller changes the order's status", async (t) => {
  const { page } = await visit(t, shop, {}, [401])
  await page.goto(`${shop.url}/orders`)
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Key').fill(await shop.key('Acme', 'order'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${shop.url}/orders`)
  await page.goto(`${shop.url}/order?product=ABC-1`)
  await page.locator('#document').waitFor({ state: 'visible' })
  t.match(await page.locator('main').textContent(), 'You order as Acme')
  await page.getByLabel('Quantity 1').fill('1')
  await page.getByRole('button', { name: 'Place the order' }).last().click()
  await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
  const uri = page.url()
  t.equal((await shop.store.order(uri.split('/').at(-1) ?? '')).customer, 'Acme')
  await page.goto(`${shop.url}/session`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Key').waitFor()

  const { page: seller } = await visit(t, shop)
  await signIn(seller, shop, await shop.key('Seller', 'fulfilment', 'catalogue'))
  t.equal(await seller.locator('figure svg').count(), 2, 'two pictures')
  await seller.goto(`${uri}/status`)
  await seller.getByRole('button', { name: 'Ship', exact: true }).click()
  await seller.getByRole('heading', { name: 'Shipment 1' }).waitFor()
  t.equal((await shop.store.order(uri.split('/').at(-1) ?? '')).status, 'shipped')
  await seller.goto(`${shop.url}/product/ABC-1/stock`)
  await seller.getByLabel('New stock').fill('77')
  await seller.getByRole('button', { name: 'Save' }).click()
  await seller.getByText('77', { exact: true }).waitFor()
  t.equal((await shop.store.stock('ABC-1')).onHand, '77')
})
