import t from 'tap'
import { follow, openShop, signIn, violations, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())
const [seller, buyer] = [await shop.key('Seller', 'fulfilment'), await shop.key('Acme', 'order')]

async function place(orderNumber: string) {
  const { order } = await shop.store.placeOrder({
    order: {
      orderNumber,
      items: ['ABC-1', 'EL-MCB-B16'].map((productId) => ({ product: { productId }, quantity: '4' as never, notes: [] })),
      notes: [],
      extensions: []
    },
    customer: 'Acme',
    status: 'accepted'
  })
  return `${shop.url}/order/${order.id}`
}

for (const javaScriptEnabled of [false, true]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  t.test(`the seller ships in two parts, and the buyer sees each, ${how}`, async (t) => {
    const order = await place(`PO-${how}`)
    const { page } = await visit(t, shop, { javaScriptEnabled }, [409, 422])
    const { page: buying } = await visit(t, shop, { javaScriptEnabled })
    await signIn(page, shop, seller)
    await signIn(buying, shop, buyer)
    const ship = page.getByRole('button', { name: 'Ship', exact: true })

    await page.goto(`${order}/status`)
    await page.getByLabel('Expected delivery date').fill('2026-12-03')
    await page.getByLabel('Note for the buyer').fill('Two parcels')
    const saved = page.waitForResponse((response) => response.request().method() === 'GET' && response.url().endsWith('/status'))
    await page.getByRole('button', { name: 'Save' }).click()
    await saved
    await page.goto(`${order}/shipments`)
    await page.getByLabel('Hex bolt').fill('')
    await page.getByLabel('Circuit breaker').fill('')
    await ship.click()
    await page.getByRole('alert').filter({ hasText: 'at least one line' }).waitFor()
    await page.getByLabel('Hex bolt').fill('3')
    await page.getByLabel('Circuit breaker').fill('5')
    await ship.click()
    const error = page.getByRole('alert').getByRole('link', { name: 'only 4 units left to ship' })
    await error.waitFor()
    await error.click()
    t.equal(await page.evaluate('document.activeElement.name'), 'item.2.quantity', 'the link of an error leads to its field')
    t.equal(await page.getByLabel('Hex bolt').inputValue(), '3', 'what was typed is still there')
    t.equal(await page.getByLabel('Circuit breaker').getAttribute('aria-invalid'), 'true')
    if (javaScriptEnabled) t.same(await violations(page), [], 'a refused shipment')
    await page.getByLabel('Circuit breaker').fill('')
    await page.getByLabel('Carrier').fill('DHL')
    await ship.click()
    await page.getByRole('heading', { name: 'Shipment 1' }).waitFor()

    await buying.goto(order)
    const text = async () => (await buying.locator('main').innerText()).replace(/\s+/g, ' ')
    t.match(await text(), /Accepted Shipped in part .*Expected delivery: 3 Dec 2026 From the seller: Two parcels .*3 shipped, 1 to come/)
    t.match(await text(), /Shipment 1: .*by DHL 3 units Hex bolt/)
    t.equal(await buying.getByText('Cancel the rest of this order…').count(), 1)

    await page.goto(`${order}/shipments`)
    t.same([await page.getByLabel('Hex bolt').inputValue(), await page.getByLabel('Circuit breaker').inputValue()], ['1', '4'])
    await ship.click()
    await page.getByRole('heading', { name: 'Shipment 2' }).waitFor()
    await buying.reload()
    t.match(await text(), /Shipped .*all shipped.*all shipped.*Shipment 2: .*Shipment 1: /)
    await follow(buying, buying.getByRole('link', { name: 'Shipment 2' }))
    t.match(await buying.locator('main').innerText(), /Hex bolt[\s\S]*Circuit breaker/)
  })
}

for (const javaScriptEnabled of [false, true]) {
  t.test(`Enter ships nothing, ${javaScriptEnabled ? 'with scripts' : 'without scripts'}`, async (t) => {
    const order = await place(`PO-ENTER-${javaScriptEnabled}`)
    const { page } = await visit(t, shop, { javaScriptEnabled })
    await signIn(page, shop, seller)
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    for (const uri of [`${order}/status`, `${order}/shipments`]) {
      await page.goto(uri)
      for (const [label, text] of Object.entries({ 'Hex bolt': '2', Carrier: 'DHL', 'Tracking number': '00340434' })) {
        await page.getByLabel(label).fill(text)
        await page.getByLabel(label).press('Enter')
        t.equal(await page.getByLabel(label).inputValue(), text, 'what was typed is still there')
      }
      t.same([page.url(), posts], [uri, []])
    }
    await page.getByRole('button', { name: 'Ship', exact: true }).click()
    await page.getByRole('heading', { name: 'Shipment 1' }).waitFor()
    t.match(await page.locator('main').innerText(), /by DHL, 00340434[\s\S]*2 units/)
  })
}

t.test('the filters of the orders are a form, and its blank fields filter nothing', async (t) => {
  await place('PO-FIND')
  const { page } = await visit(t, shop)
  await signIn(page, shop, seller)
  await page.getByText('Filter by customer, number, id or date').click()
  await page.getByLabel('Order number').fill('PO-FIND')
  await page.getByLabel('Placed since').fill('2020-01-02')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(`${shop.url}/orders?order-number=PO-FIND&placed-since=2020-01-02T00%3A00%3A00Z`)
  t.equal(await page.locator('main > .list > tbody > tr').count(), 1)
  t.equal(await page.getByLabel('Placed since').inputValue(), '2020-01-02')
  await page.getByLabel('Customer').fill('Nobody')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByText('No orders match these filters.').waitFor()
  await follow(page, page.getByRole('link', { name: 'Clear the filters' }))
})
