import type { Page } from 'playwright-core'
import t from 'tap'
import { openShop, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())

const ordersPlaced = async () => (await shop.store.orders({ limit: 100 })).items.length

/** Acts as a barcode scanner: types the code into the field that has the focus, and then Enter. */
async function scan(page: Page, code: string): Promise<void> {
  await page.keyboard.type(code)
  await page.keyboard.press('Enter')
}

const focused = (page: Page, name: string) => page.locator(`[name="${name}"]:focus`).waitFor()

for (const javaScriptEnabled of [false, true]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  t.test(`each scan of a barcode fills a line, and orders nothing, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    const before = await ordersPlaced()
    await page.goto(`${shop.url}/order`)
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Product 1').focus()
    const codes = ['9520714000376', 'EL-MCB-B16', '09520714001489', 'ABC-1', '9520714000741', 'EL-LEVER-3P']
    const numbers = ['ABC-1', 'EL-MCB-B16', 'FX-4032-M8-A2', 'ABC-1', 'FX-4762-M6X20-A2', 'EL-LEVER-3P']
    for (const [i, code] of codes.entries()) {
      await scan(page, code)
      await focused(page, `item.${i + 2}.product-id`)
    }
    for (const [i, number] of numbers.entries()) {
      const line = page.locator('.lines > li').nth(i)
      await line.locator('output').filter({ hasText: /\S/ }).waitFor()
      t.equal(await line.locator('input').first().inputValue(), number, `the barcode ${codes[i]} is of ${number}`)
    }
    t.match(await page.locator('.lines output').first().textContent(), 'Hex bolt M8')
    t.equal(new URL(page.url()).pathname, '/order')
    t.equal(await ordersPlaced(), before)
    for (const i of numbers.keys()) await page.getByLabel(`Quantity ${i + 1}`).fill(String(i + 1))
    await page.getByRole('button', { name: 'Place the order' }).click()
    await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
    t.equal(await page.locator('tbody tr').count(), 6)
    t.equal(await ordersPlaced(), before + 1, 'the button places it')
  })

  t.test(`Enter in any field of the form orders nothing, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    const before = await ordersPlaced()
    await page.goto(`${shop.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Quantity 1').fill('3')
    for (const name of [
      'item.1.product-id',
      'item.1.quantity',
      'order-number',
      'requested-delivery-date',
      'buyer.name',
      'buyer.address.country'
    ]) {
      // Without scripts, Enter sends the form. The page that is the answer is whole before the next field, and before the orders are counted.
      const answered = javaScriptEnabled ? undefined : page.waitForEvent('load')
      await page.locator(`[name="${name}"]`).press('Enter')
      await answered
      await page.getByRole('button', { name: 'Place the order' }).waitFor()
      t.equal(new URL(page.url()).pathname, '/order', name)
      t.equal(await page.getByLabel('Quantity 1').inputValue(), '3', 'and loses nothing')
    }
    t.equal(await ordersPlaced(), before)
  })

  t.test(`Enter in a line of an order that is changed changes nothing yet, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    const { order } = await shop.store.placeOrder({
      order: { items: [{ product: { productId: 'ABC-1' }, quantity: '1' as never, notes: [] }], notes: [], extensions: [] },
      status: 'accepted'
    })
    await page.goto(`${shop.url}/order/${order.id}?form=change`)
    if (javaScriptEnabled) await page.getByRole('button', { name: 'Remove line 1' }).waitFor()
    await page.getByLabel('Quantity 1').fill('7')
    await page.getByLabel('Quantity 1').press('Enter')
    await focused(page, 'item.2.product-id')
    t.equal((await shop.store.order(order.id)).version, order.version)
    await scan(page, '9520714001489')
    await focused(page, 'item.3.product-id')
    await page.getByLabel('Quantity 2').fill('2')
    await page.getByRole('button', { name: 'Change the order' }).click()
    await page.getByRole('list', { name: 'Progress of the order' }).waitFor()
    t.match((await shop.store.order(order.id)).items, [{ quantity: '7' }, { productId: 'FX-4032-M8-A2', quantity: '2' }])
  })
}

t.test('a wheel over a quantity leaves it as it was typed', async (t) => {
  const { page } = await visit(t, shop)
  await page.goto(`${shop.url}/order?product=ABC-1`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await page.getByLabel('Quantity 1').fill('25')
  await page.getByLabel('Quantity 1').hover()
  const value = () => page.getByLabel('Quantity 1').inputValue()
  await page.mouse.wheel(0, 120)
  while ((await page.evaluate('scrollY')) === 0 && (await value()) === '25') await page.evaluate('new Promise(requestAnimationFrame)')
  t.equal(await value(), '25', 'the wheel moves the page')
})

t.test('with scripts, the browser holds a quantity to the rule of its product', async (t) => {
  const { page } = await visit(t, shop)
  await shop.store.createProduct('BOX-4', {
    name: 'Box',
    price: '1' as never,
    unit: 'C62',
    minimumQuantity: '10' as never,
    quantityStep: '4' as never,
    categories: [],
    images: [],
    backorder: true
  })
  const before = await ordersPlaced()
  await page.goto(`${shop.url}/order?product=BOX-4`)
  await page.locator('#document').waitFor({ state: 'visible' })
  const quantity = page.getByLabel('Quantity 1')
  const refusal = () => quantity.evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage)
  for (const [typed, message] of [
    ['8', 'Order at least 12.'],
    ['1,5', 'Write 1.5.'],
    ['17.5', 'Order 16 or 20.']
  ] as const) {
    await quantity.fill(typed)
    await page.getByRole('button', { name: 'Place the order' }).click()
    t.equal(await refusal(), message)
  }
  await quantity.fill('16')
  t.equal(await refusal(), '', 'it is not refused while it is corrected')
  t.equal(await ordersPlaced(), before)
  await page.getByRole('button', { name: 'Place the order' }).click()
  await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
})

t.test('a product that is typed has its rule and its stock, too', async (t) => {
  const { page } = await visit(t, shop)
  const rules = { minimumQuantity: '10' as never, quantityStep: '4' as never, categories: [], images: [], backorder: true }
  await shop.store.createProduct('BOX-5', { name: 'Box', price: '1' as never, unit: 'C62', ...rules })
  await page.goto(`${shop.url}/order`)
  await page.locator('#document').waitFor({ state: 'visible' })
  const quantity = page.getByLabel('Quantity 1')
  await page.getByLabel('Product 1').fill('BOX-5')
  await quantity.fill('8')
  await page.getByText('€1.00 each, on backorder: €8.00').waitFor()
  t.equal(await quantity.evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage), 'Order at least 12.')
})

t.test('with scripts, an order whose price has changed is refused, and the page shows the new price', async (t) => {
  const { page } = await visit(t, shop, {}, [409])
  const box = (price: string) => ({ name: 'Box', price: price as never, unit: 'C62', categories: [], images: [], backorder: true })
  for (const [id, url] of [
    ['BOX-6', '/order?product=BOX-6'],
    ['BOX-7', '/order']
  ] as const) {
    await shop.store.createProduct(id, box('10'))
    await page.goto(`${shop.url}${url}`)
    await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Product 1').fill(id)
    await page.getByLabel('Quantity 1').fill('3')
    await page.getByText('€10.00 each, on backorder: €30.00').waitFor()
    await shop.store.putProduct(id, box('77'), {})
    await page.getByRole('button', { name: 'Place the order' }).click()
    const refusal = page.getByRole('link', { name: `${id} costs 77 EUR, not the expected 10.` })
    await refusal.waitFor()
    t.equal(await refusal.getAttribute('href'), '#item.1.product-id')
    await page.getByText('€77.00 each, on backorder: €231.00').waitFor()
    await page.getByRole('button', { name: 'Place the order' }).click()
    await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
    t.match(await page.locator('main').textContent(), '€231.00')
  }
})

t.test('without scripts, a quantity with a comma is refused, and the page says how to write it', async (t) => {
  const { page } = await visit(t, shop, { javaScriptEnabled: false }, [422])
  const before = await ordersPlaced()
  await page.goto(`${shop.url}/order?product=ABC-1`)
  await page.getByLabel('Quantity 1').pressSequentially('1,5')
  await page.getByRole('button', { name: 'Place the order' }).click()
  await page.getByRole('alert').waitFor()
  t.match(await page.getByRole('alert').textContent(), /Line 1: Quantity is "1,5".* Write 1\.5\./)
  t.equal(await page.getByLabel('Quantity 1').inputValue(), '1,5')
  t.equal(await ordersPlaced(), before)
})

t.test('with scripts, Enter goes on from field to field, and past the last line to a new one', async (t) => {
  const { page } = await visit(t, shop)
  await page.goto(`${shop.url}/order?product=ABC-1`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await page.getByLabel('Product 4').press('Enter')
  await focused(page, 'item.4.product-id')
  t.equal(await page.locator('.lines > li').count(), 4, 'a last line that is blank is enough')
  await page.getByLabel('Product 4').fill('EL-LEVER-3P')
  await page.getByLabel('Quantity 4').fill('2')
  await page.getByLabel('Quantity 4').press('Enter')
  await focused(page, 'item.5.product-id')
  await page.locator('.lines output').nth(3).filter({ hasText: '€' }).waitFor()
  await page.getByLabel('Order number').press('Enter')
  await focused(page, 'requested-delivery-date')
  await page.locator('[name="buyer.address.country"]').press('Enter')
  await page.locator('summary:focus, button:focus').waitFor()
  t.match(await page.evaluate('document.activeElement.textContent'), 'Place the order', 'what is closed is passed over')
})

t.test('after a quantity, Enter goes to the next blank line, so that a scan never adds to what is there', async (t) => {
  const { page } = await visit(t, shop)
  await page.goto(`${shop.url}/order`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await page.getByLabel('Product 1').focus()
  await scan(page, 'ABC-1')
  await focused(page, 'item.2.product-id')
  await scan(page, 'EL-LEVER-3P')
  await focused(page, 'item.3.product-id')
  await page.getByLabel('Quantity 1').fill('2')
  await page.getByLabel('Quantity 1').press('Enter')
  await focused(page, 'item.3.product-id')
  t.equal(await page.getByLabel('Product 2').inputValue(), 'EL-LEVER-3P')
})

t.test('a scan finds the product that has the number among very many that only mention it', async (t) => {
  const code = '4012345678901'
  const { page } = await visit(t, shop)
  const product = { price: '1' as never, unit: 'C62', categories: [], images: [], backorder: true }
  const mentions = (start: string) =>
    Array.from({ length: 60 }, (_, i) => ({
      id: `${start}-${i}`,
      draft: { ...product, name: `Label ${code}`, description: `${code} ${code} ${code}` }
    }))
  await shop.store.importProducts(mentions('A'))
  await shop.store.createProduct('M-OWN', { ...product, name: 'A pen with a very long name that says nothing of its number', gtin: code })
  await shop.store.importProducts(mentions('Z'))
  await page.goto(`${shop.url}/order`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await page.getByLabel('Product 1').focus()
  await scan(page, code)
  await page.locator('.lines output').first().filter({ hasText: 'A pen' }).waitFor()
  t.equal(await page.getByLabel('Product 1').inputValue(), 'M-OWN')
})

t.test('an unknown barcode is reported, and the next scan goes into the next line', async (t) => {
  const { page } = await visit(t, shop, {}, [404])
  await page.goto(`${shop.url}/order`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await page.getByLabel('Product 1').focus()
  await scan(page, '4006381333931')
  await focused(page, 'item.2.product-id')
  await scan(page, 'ABC-1')
  await page.getByText('There is no product with this number.').waitFor()
  t.equal(await page.getByLabel('Product 1').inputValue(), '4006381333931')
  t.equal(await page.getByLabel('Product 2').inputValue(), 'ABC-1')
})

t.test('a line shows the price and the unit of its product before its quantity is typed', async (t) => {
  const { page } = await visit(t, shop)
  const wire = { name: 'Wire', price: '0.0125' as never, unit: 'MTR', categories: [], images: [], backorder: true }
  await shop.store.createProduct('WIRE', wire)
  await shop.store.createProduct('BAG', { ...wire, name: 'Bag', price: '3' as never, unit: 'XBG' })
  await shop.store.createProduct('TIN', { ...wire, name: 'Tin', price: '4' as never, unit: 'TN' })
  await page.goto(`${shop.url}/order?product=ABC-1`)
  await page.locator('#document').waitFor({ state: 'visible' })
  const shown = (line: number, text: string) =>
    page
      .locator('.lines output')
      .nth(line - 1)
      .filter({ hasText: new RegExp(`^${text}$`) })
      .waitFor()
  await shown(1, 'Hex bolt .*, €9\\.99 each')
  await page.getByLabel('Product 2').focus()
  for (const id of ['WIRE', 'BAG', 'TIN', '9520714000376']) await scan(page, id)
  await shown(2, 'Wire, €0\\.0125 per m, on backorder')
  await shown(3, 'Bag, €3\\.00 per bag, on backorder')
  await shown(4, 'Tin, €4\\.00 per TN, on backorder')
  await shown(5, 'Hex bolt .*, €9\\.99 each')
  await page.getByLabel('Quantity 2').fill('200')
  await page.getByLabel('Quantity 2').blur()
  await shown(2, 'Wire, €0\\.0125 per m, on backorder: €2\\.50')
})
