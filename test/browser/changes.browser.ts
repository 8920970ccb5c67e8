import type { Page } from 'playwright-core'
import t from 'tap'
import type { Decimal } from '../../domain/money.ts'
import type { Order, PurchaseOrder } from '../../domain/order.ts'
import { openShop, signIn, violations, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())

const line = (productId: string, quantity: string, ...notes: string[]) => ({
  product: { productId },
  quantity: quantity as Decimal,
  notes
})

async function place(order: Partial<PurchaseOrder> & Pick<PurchaseOrder, 'items'>): Promise<Order> {
  return (await shop.store.placeOrder({ order: { notes: [], extensions: [], ...order }, status: 'accepted' })).order
}

const uriOf = ({ id }: Order) => `${shop.url}/order/${id}`

async function change(page: Page, order: Order): Promise<Order> {
  await page.getByRole('button', { name: 'Change the order' }).last().click()
  // The page of the order, which has the URI that a refused form has too.
  await page.getByRole('list', { name: 'Progress of the order' }).waitFor()
  return shop.store.order(order.id)
}

/** Waits until the script runs: then the lines have its buttons. */
const ready = (page: Page) => page.getByRole('button', { name: 'Remove line 1' }).waitFor()

for (const javaScriptEnabled of [false, true]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  t.test(`fields that were not edited keep their values, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    const order = await place({
      items: [line('ABC-1', '1', 'first\nsecond', 'another')],
      requestedDeliveryDate: '2026-12-01Z',
      buyer: { name: 'Line one\nline two', email: 'müller@firma.example' },
      notes: ['one', 'two'],
      extensions: [{ name: 'cost-centre', value: ' 4711\n' }]
    })
    await page.goto(`${uriOf(order)}?form=change`)
    await page.getByLabel('Order number').fill('PO-9')
    const { version: _version, modifiedAt: _at, ...changed } = await change(page, order)
    const { version: _before, modifiedAt: _then, ...rest } = order
    t.same(changed, { ...rest, orderNumber: 'PO-9' })
    await shop.store.setOrderStatus(order.id, 'cancelled', {})
  })

  t.test(`a wrong field in a closed section does not keep the form from being sent, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [422])
    await page.goto(`${shop.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Quantity 1').fill('1')
    const section = page.getByText('Ship to another address')
    await section.click()
    const country = page.locator('[id="ship-to.address.country"]')
    await country.fill('Germany')
    await section.click()
    await country.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByRole('alert').waitFor()
    await country.waitFor()
    t.equal(await country.getAttribute('aria-invalid'), 'true', 'it is shown, and marked')
    t.match(await page.getByRole('alert').textContent(), /Ship to: Country is/, 'and the list says of which address it is')
    const described = async () => {
      const ids = ((await country.getAttribute('aria-describedby')) ?? '').split(' ')
      return Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).textContent()))
    }
    t.match(await described(), [/^Country is/, 'Two letters, such as DE'])
    await country.fill('de')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByRole('list', { name: 'Progress of the order' }).waitFor()
    t.match(await page.locator('.party').textContent(), /DE/)
  })

  t.test(`an order number that is taken is said once in the list, with a link to its order, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [409])
    await signIn(page, shop, await shop.key(`Taken ${how}`, 'order'))
    const customer = `Taken ${how}`
    const { order } = await shop.store.placeOrder({
      order: { items: [line('ABC-1', '7')], notes: [], extensions: [], orderNumber: 'PO-1' },
      customer,
      status: 'accepted'
    })
    await page.goto(`${shop.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Quantity 1').fill('1')
    await page.getByLabel('Order number').fill('PO-1')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByRole('alert').waitFor()
    const text = (await page.getByRole('alert').textContent()) ?? ''
    t.equal(text.match(/You already have an order with the number PO-1/g)?.length, 1)
    t.notMatch(text, order.id)
    t.equal(await page.getByRole('link', { name: 'See that order' }).getAttribute('href'), `/order/${order.id}`)
  })

  t.test(`only without scripts, a line is removed by clearing it, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    await page.goto(`${uriOf(await place({ items: [line('ABC-1', '1')] }))}?form=change`)
    await page.getByText('keeps its price').waitFor()
    t.equal(/clear all its fields/.test(await page.locator('.lead').innerText()), !javaScriptEnabled)
  })

  t.test(`half a line is asked for in a person's words, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [422])
    await page.goto(`${shop.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Quantity 1').fill('1')
    await page.getByLabel('Product 3').fill('ABC-1')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByRole('alert').waitFor()
    t.match(await page.getByRole('alert').textContent(), /Line 3: Say how many of this product\./)
    t.equal(await page.getByLabel('Quantity 3').getAttribute('aria-invalid'), 'true')
  })

  t.test(`after another change came first, the form shows the input and the current order, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [412])
    const order = await place({ items: [line('ABC-1', '1')] })
    await page.goto(`${uriOf(order)}?form=change`)
    await shop.store.changeOrder(order.id, { items: [line('ABC-1', '2')], notes: [], extensions: [] }, {})
    await page.getByLabel('Note').fill('typed at length')
    await page.getByRole('button', { name: 'Change the order' }).last().click()
    // The alert has the focus, so that a screen reader reads it aloud.
    await page.locator('[role=alert]:focus').waitFor()
    t.match(await page.getByRole('alert').textContent(), /Somebody else changed/)
    t.equal(await page.getByRole('link', { name: 'See the order as it stands' }).getAttribute('href'), `/order/${order.id}`)
    t.equal(await page.getByLabel('Note').inputValue(), 'typed at length')
    t.match(await change(page, order), { notes: ['typed at length'], items: [{ quantity: '1' }] }, 'what is sent again is stored')
  })
}

t.test('with scripts, the browser holds a line to what was shipped of it', async (t) => {
  const { page } = await visit(t, shop)
  const order = await place({ items: [line('ABC-1', '5'), line('EL-LEVER-3P', '3')] })
  await shop.store.shipOrder(order.id, { items: [{ line: 1, quantity: '4' as Decimal }] }, {})
  await page.goto(`${uriOf(order)}?form=change`)
  await ready(page)
  const quantity = page.getByLabel('Quantity 1')
  const refusal = () => quantity.evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage)
  t.equal(await page.locator('[id="item.1.quantity-hint"]').innerText(), '4 units shipped: order at least 4.')
  t.same(await violations(page), [])
  await quantity.fill('3')
  await page.getByRole('button', { name: 'Change the order' }).last().click()
  t.equal(await refusal(), 'Order at least 4, because that was shipped.')
  await page.getByRole('button', { name: 'More lines' }).click()
  t.equal(await page.locator('.lines .hint').count(), 1, 'a new line says nothing of it')
  await quantity.fill('4')
  t.match(await change(page, order), { items: [{ quantity: '4', shippedQuantity: '4' }, { quantity: '3' }] })
})

t.test('a line that is removed takes its note along', async (t) => {
  const { page } = await visit(t, shop)
  const items = [
    line('ABC-1', '1', 'keep me'),
    line('FX-4032-M8-A2', '1'),
    line('EL-LEVER-3P', '1'),
    line('EL-H07RN-5G2.5', '2', 'cut to 2 m')
  ]
  const order = await place({ items })
  await page.goto(`${uriOf(order)}?form=change`)
  await ready(page)
  t.equal(await page.getByLabel('Note 4').inputValue(), 'cut to 2 m')
  await page.getByRole('button', { name: 'Remove line 4' }).click()
  await page.getByRole('button', { name: 'More lines' }).click()
  await page.getByLabel('Product 4').fill('EL-MCB-B16')
  await page.getByLabel('Quantity 4').fill('2')
  const { items: changed } = await change(page, order)
  t.same(
    changed.map(({ productId, notes }) => [productId, notes]),
    [
      ['ABC-1', ['keep me']],
      ['FX-4032-M8-A2', []],
      ['EL-LEVER-3P', []],
      ['EL-MCB-B16', []]
    ]
  )
})

t.test('the lines that an order has are not looked up again, and keep their price though the product is gone', async (t) => {
  const { page } = await visit(t, shop)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await shop.store.createProduct('GONE-1', {
    name: 'Gone tomorrow',
    price: '5' as Decimal,
    unit: 'C62',
    categories: [],
    images: [],
    backorder: true
  })
  const order = await place({ items: [line('GONE-1', '2'), line('ABC-1', '1')] })
  await shop.store.deleteProduct('GONE-1', {})
  await page.goto(`${uriOf(order)}?form=change`)
  await ready(page)
  await page.locator('#total').filter({ hasText: '€19.99' }).waitFor()
  t.match(await page.locator('.lines').textContent(), 'Gone tomorrow, €5.00 each: €10.00')
  t.same(
    asked.filter((path) => path.startsWith('/product/')),
    []
  )
})

t.test('a look-up that fails is tried again, and its product is not reported as missing', async (t) => {
  const { page } = await visit(t, shop, {}, [404, 503])
  let isDown = true
  await page.route('**/product/ABC-1', (route) => (isDown ? route.fulfill({ status: 503 }) : route.continue()))
  await page.goto(`${shop.url}/order`)
  await ready(page)
  await page.getByLabel('Product 1').fill('ABC-1')
  await page.getByLabel('Quantity 1').fill('2')
  await page.getByLabel('Product 2').fill('NO-SUCH')
  await page.getByLabel('Product 2').blur()
  await page.getByText('There is no product with this number.').waitFor()
  const first = page.locator('.lines > li').first()
  await first.getByText('This product cannot be looked up now.').waitFor()
  isDown = false
  await page.getByLabel('Quantity 1').fill('3')
  await page.getByLabel('Quantity 1').blur()
  await first.getByText('€29.97').waitFor()
})

t.test('when a proxy answers in place of the shop, the form tells the customer what to do', async (t) => {
  const { page } = await visit(t, shop, {}, [502, 504])
  const problem = '<problem xmlns="urn:ietf:rfc:7807"><type>about:blank</type><title>Gateway Timeout</title><status>504</status></problem>'
  const answers = [
    { status: 502, contentType: 'text/html', body: '<p style="color:red">Bad gateway</p>' },
    { status: 504, contentType: 'application/problem+xml', body: problem }
  ]
  await page.goto(`${shop.url}/order?product=ABC-1`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await page.getByLabel('Quantity 1').fill('1')
  for (const answer of answers) {
    await page.route('**/order', (route) => route.fulfill(answer), { times: 1 })
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByRole('alert').waitFor()
    t.match(await page.getByRole('alert').textContent(), /Your order may have arrived\. Send it again/, String(answer.status))
    await page.locator('#refusal').evaluate((refusal) => refusal.replaceChildren())
  }
  await page.getByRole('button', { name: 'Place the order' }).last().click()
  await page.waitForURL('**/order/*')
})

t.test('a name that is written from right to left leaves the price beside it alone', async (t) => {
  const { page } = await visit(t, shop)
  await shop.store.createProduct('RTL-1', {
    name: 'safe \u202egnp.exe bolt',
    price: '2' as Decimal,
    unit: 'C62',
    categories: [],
    images: [],
    backorder: true
  })
  await page.goto(`${shop.url}/order?product=RTL-1`)
  await ready(page)
  await page.getByLabel('Quantity 1').fill('3')
  await page.getByLabel('Quantity 1').blur()
  const shown = page.locator('.lines output').first()
  await shown.filter({ hasText: '€6.00' }).waitFor()
  t.match(await shown.evaluate((output) => output.innerHTML), /^<bdi>safe [^<]*<\/bdi>, €2\.00 each, on backorder: €6\.00$/)
})
