import t from 'tap'
import type { Decimal } from '../../domain/money.ts'
import { linesOf, notice, openForm, place, placed, pressOrder, ready, storedText } from './drafts.ts'
import { openShop, violations, visit } from './shop.ts'

const shop = await openShop({ BASE_URL: '/shop' })
t.teardown(() => shop.close())

const focused = (name: string) => `[name="${name}"]:focus`

t.test(
  'a person orders one product, goes back to the catalogue and orders another: the form has both, and all that was typed',
  async (t) => {
    const { page } = await visit(t, shop)
    await pressOrder(page, shop, 'ABC-1')
    await page.getByLabel('Quantity 1').fill('3')
    await page.getByLabel('Order number').fill('PO-7')
    await page.locator('[name="buyer.address.country"]').fill('de')
    await page.getByText('Ship to another address').click()
    await page.locator('[name="ship-to.name"]').fill('Depot')
    await page.getByLabel('Note').fill('one\ntwo')
    await page.getByLabel('Note').blur()
    await pressOrder(page, shop, 'EL-MCB-B16')
    await page.locator(focused('item.2.quantity')).fill('2')
    await page.getByLabel('Quantity 2').blur()
    await page.locator('#total').filter({ hasText: '€37.45' }).waitFor()
    t.same(await linesOf(page), [
      ['ABC-1', '3'],
      ['EL-MCB-B16', '2']
    ])
    const outputs = await page.locator('.lines output').allTextContents()
    t.match(outputs[0], /^Hex bolt M8.*, €9\.99 each: €29\.97$/)
    t.match(outputs[1], /^Circuit breaker B16.*, €3\.74 each: €7\.48$/)
    t.equal(await page.getByLabel('Order number').inputValue(), 'PO-7')
    t.equal(await page.getByLabel('Note').inputValue(), 'one\ntwo')
    t.equal(await page.locator('[name="buyer.address.country"]').inputValue(), 'DE', 'as the script has corrected it')
    t.ok(await page.locator('[name="ship-to.name"]').isVisible(), 'a section with restored fields is open')
    t.match(await notice(page).textContent(), 'EL-MCB-B16 was added in line 2.')
    t.same(await violations(page), [])
    await placed(page)
    t.match(await page.locator('main').textContent(), /Depot/)
    t.equal(await page.locator('tbody tr').count(), 2)
  }
)

t.test('ordering a product that is in the order already leads to its line, and changes no quantity', async (t) => {
  const { page } = await visit(t, shop)
  await pressOrder(page, shop, 'EL-MCB-B16')
  await page.getByLabel('Product 2').fill('ABC-1')
  await page.getByLabel('Quantity 2').fill('5')
  await pressOrder(page, shop, 'ABC-1')
  await page.locator(focused('item.2.quantity')).waitFor()
  t.same(await linesOf(page), [
    ['EL-MCB-B16', ''],
    ['ABC-1', '5']
  ])
  t.match(await notice(page).textContent(), 'ABC-1 was already in line 2.')
})

t.test('a line with a note is of its own: the note comes back, and the product gets another line', async (t) => {
  const { page } = await visit(t, shop, {}, [422])
  await openForm(page, shop)
  // No page of the shop has such a field in a new order, but its form can be posted with one.
  await page.evaluate(`document.querySelector('form').insertAdjacentHTML('beforeend',
    '<input name="item.1.product-id" value="ABC-1"><input name="item.1.quantity" value="x"><input name="item.1.note.1" value="cut it">')`)
  const came = page.waitForEvent('load')
  await page.evaluate(`document.querySelectorAll('.lines > li').forEach((line) => line.remove()); document.querySelector('form').submit()`)
  await came
  await ready(page)
  await pressOrder(page, shop, 'ABC-1')
  t.same(await linesOf(page), [
    ['ABC-1', 'x', 'cut it'],
    ['ABC-1', '']
  ])
  t.equal(await page.getByLabel('Note 1').inputValue(), 'cut it')
  await page.getByLabel('Quantity 1').fill('4')
  await page.getByLabel('Quantity 2').fill('2')
  await placed(page)
  t.match(await page.locator('tbody tr').first().textContent(), 'cut it')
})

t.test('reloading the page, or coming back to it, adds nothing again, not even what was removed', async (t) => {
  const { page } = await visit(t, shop)
  await pressOrder(page, shop, 'ABC-1')
  await page.getByLabel('Quantity 1').fill('3')
  await page.reload()
  await ready(page)
  t.same(await linesOf(page), [['ABC-1', '3']])
  await pressOrder(page, shop, 'EL-MCB-B16')
  await page.getByRole('button', { name: 'Remove line 2' }).click()
  await page.reload()
  await ready(page)
  t.same(await linesOf(page), [['ABC-1', '3']])
  await page.goto(`${shop.url}/products`)
  await page.goBack()
  await ready(page)
  t.same(await linesOf(page), [['ABC-1', '3']])
  await pressOrder(page, shop, 'EL-MCB-B16')
  t.same(
    await linesOf(page),
    [
      ['ABC-1', '3'],
      ['EL-MCB-B16', '']
    ],
    'but a new press of its link does'
  )
})

t.test('names and prices of restored lines are those of today', async (t) => {
  const { page } = await visit(t, shop, {}, [410])
  const lamp = { name: 'Lamp', price: '5' as Decimal, unit: 'C62', categories: [], images: [], backorder: true }
  for (const id of ['LAMP', 'GONE']) await shop.store.createProduct(id, lamp)
  await openForm(page, shop, '?product=LAMP&product=GONE&quantity=2&quantity=1')
  await page.locator('#total').filter({ hasText: '€15.00' }).waitFor()
  await shop.store.putProduct('LAMP', { ...lamp, name: 'New lamp', price: '7' as Decimal }, {})
  await shop.store.deleteProduct('GONE', {})
  await openForm(page, shop)
  await page
    .locator('#total')
    .filter({ hasText: /^from €14\.00$/ })
    .waitFor()
  t.match(await page.locator('.lines output').allTextContents(), [
    'New lamp, €7.00 each, on backorder: €14.00',
    'This product is no longer sold.'
  ])
})

t.test('"Start again" clears the lines, the fields and the draft, with the keyboard too', async (t) => {
  const { page } = await visit(t, shop, {}, [404, 422])
  await openForm(page, shop, '?product=ABC-1&product=EL-MCB-B16&product=EL-LEVER-3P&product=FX-4032-M8-A2&product=FX-7089-M8')
  await page.getByLabel('Order number').fill('PO-8')
  await page.getByText('Bill to another address').click()
  await page.locator('[name="bill-to.name"]').fill('Head office')
  await openForm(page, shop)
  t.equal(((await linesOf(page)) as unknown[]).length, 5)
  await page.getByLabel('Quantity 1').fill('three')
  await page.getByLabel('Product 5').fill('NO-SUCH')
  await place(page)
  await page.getByRole('alert').waitFor()
  await page.getByRole('alert').press('Tab')
  const reached = page.locator('button:focus', { hasText: 'Start again' })
  for (let presses = 0; presses < 10 && (await reached.count()) === 0; presses++) await page.keyboard.press('Tab')
  t.equal(await reached.count(), 1)
  await page.keyboard.press('Enter')
  await page.locator('.lines > li:first-child input:first-of-type:focus').waitFor()
  t.same(await linesOf(page), [])
  t.equal(await page.locator('.lines > li').count(), 4)
  t.equal(await page.getByLabel('Order number').inputValue(), '')
  t.notOk(await page.locator('[name="bill-to.name"]').isVisible())
  t.equal(await page.getByRole('alert').count(), 0, 'the errors of before are gone')
  t.equal(await page.locator('[aria-invalid]').count(), 0)
  t.match(await page.getByRole('status').first().textContent(), 'The form is blank again.')
  t.equal(await page.locator('#total').textContent(), '€0.00')
  t.equal(await storedText(page), '{}')
  await page.reload()
  await ready(page)
  t.same(await linesOf(page), [])
  t.equal(await notice(page).count(), 0)
  await openForm(page, shop, '?product=ABC-1')
  t.equal(await notice(page).count(), 0)
})

t.test('"Order these products again" adds its products to the order in progress, and keeps the quantities there', async (t) => {
  const { page } = await visit(t, shop)
  const line = (productId: string, quantity: string) => ({ product: { productId }, quantity: quantity as Decimal, notes: [] })
  const items = [line('ABC-1', '5'), line('EL-MCB-B16', '2'), line('EL-LEVER-3P', '4'), line('EL-LEVER-3P', '6')]
  const { order } = await shop.store.placeOrder({ order: { items, notes: [], extensions: [] }, status: 'accepted' })
  await openForm(page, shop, '?product=ABC-1&product=EL-MCB-B16')
  await page.getByLabel('Quantity 1').fill('1')
  for (const isSecond of [false, true]) {
    await page.goto(`${shop.url}/order/${order.id}`)
    await page.getByRole('link', { name: 'Order these products again' }).click()
    await ready(page)
    t.same(await linesOf(page), [
      ['ABC-1', '1'],
      ['EL-MCB-B16', '2'],
      ['EL-LEVER-3P', '4'],
      ['EL-LEVER-3P', '6']
    ])
    const said = isSecond
      ? /4 of the products that you chose were already in it/
      : /2 lines were added\. 2 of the products .* were already in it/
    t.match(await notice(page).textContent(), said)
  }
})

t.test('"Order these products again" takes the parties along that the order in progress does not have, and no URI has them', async (t) => {
  const { page } = await visit(t, shop)
  const items = [{ product: { productId: 'ABC-1' }, quantity: '5' as Decimal, notes: [] }]
  const address = { street: 'Road 1', city: 'Town' }
  const parties = { buyer: { name: 'Acme', address }, shipTo: { name: 'Plant 2', address }, billTo: { name: 'Head office' } }
  const { order } = await shop.store.placeOrder({ order: { items, ...parties, notes: ['Ring first'], extensions: [] }, status: 'accepted' })
  const again = async () => {
    await page.goto(`${shop.url}/order/${order.id}`)
    await page.getByRole('link', { name: 'Order these products again' }).click()
    await ready(page)
  }
  const fields = () =>
    page.evaluate<
      Record<string, string>
    >(`Object.fromEntries([...document.querySelectorAll('fieldset:not(:has(.lines)) :is(input, textarea)')]
      .filter(({ value }) => value !== '').map(({ name, value }) => [name, value]))`)
  await again()
  const all = {
    'buyer.name': 'Acme',
    'buyer.address.street': 'Road 1',
    'buyer.address.city': 'Town',
    'ship-to.name': 'Plant 2',
    'ship-to.address.street': 'Road 1',
    'ship-to.address.city': 'Town',
    'bill-to.name': 'Head office'
  }
  t.same(await fields(), all)
  t.equal(page.url(), `${shop.url}/order`, 'the page can be loaded again, and adds nothing')
  await page.reload()
  await ready(page)
  t.same(await fields(), all)
  t.ok(await page.getByLabel('Name').nth(1).isVisible(), 'the section of the delivery address is open')
  await page.getByRole('button', { name: 'Start again' }).click()
  await page.getByLabel('City').first().fill('Elsewhere')
  await page.getByLabel('Order number').fill('PO-NEW')
  await again()
  t.same(await fields(), {
    'order-number': 'PO-NEW',
    'buyer.address.city': 'Elsewhere',
    ...Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('buyer')))
  })
  t.same(await linesOf(page), [['ABC-1', '5']])
})

t.test('hundreds of lines are restored, and only those that are seen are looked up', async (t) => {
  const { page } = await visit(t, shop, {}, [404])
  const lines = Array.from({ length: 400 }, (_, i) => ({ 'product-id': `NONE-${i}`, quantity: '1' }))
  await openForm(page, shop)
  await page.evaluate(
    `sessionStorage.setItem('tradepost-draft:/shop/order', ${JSON.stringify(JSON.stringify({ version: 1, customer: '', lines, fields: {} }))})`
  )
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const lookedUp = () => asked.filter((path) => path.startsWith('/shop/product/')).length
  await openForm(page, shop, '?product=ABC-1')
  await page.locator(focused('item.401.quantity')).waitFor()
  const last = page.locator('.lines output').nth(399)
  await last.filter({ hasText: 'There is no product' }).waitFor()
  t.match(await page.locator('.lines output').nth(400).textContent(), 'Hex bolt')
  t.equal(await page.locator('.lines output').nth(200).textContent(), '')
  t.ok(lookedUp() < 60, `${lookedUp()} products were looked up`)
  await page.getByLabel('Quantity 201').scrollIntoViewIfNeeded()
  await page.locator('.lines output').nth(200).filter({ hasText: 'There is no product' }).waitFor()
})

t.test('the notice fits a phone', async (t) => {
  const { page } = await visit(t, shop, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
  await pressOrder(page, shop, 'EL-MCB-B16')
  await pressOrder(page, shop, 'ABC-1')
  await notice(page).waitFor()
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= 360'))
})
