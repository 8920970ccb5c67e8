import type { Page } from 'playwright-core'
import t from 'tap'
import { linesOf, notice, openForm, place, placed, pressOrder, ready, storedText } from './drafts.ts'
import { openShop, signIn, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())

const key = 'tradepost-draft:/order'

async function signOut(page: Page): Promise<void> {
  await page.goto(`${shop.url}/session`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Key').waitFor()
}

/** A blank form, and nothing that was typed before. */
async function isBlank(page: Page): Promise<boolean> {
  await openForm(page, shop)
  const lines = (await linesOf(page)) as unknown[]
  return lines.length === 0 && (await page.getByLabel('Order number').inputValue()) === '' && (await notice(page).count()) === 0
}

t.test('after an order was placed, the next form is blank', async (t) => {
  const { page } = await visit(t, shop)
  await pressOrder(page, shop, 'EL-MCB-B16')
  await pressOrder(page, shop, 'ABC-1')
  await page.getByLabel('Quantity 1').fill('1')
  await page.getByLabel('Quantity 2').fill('1')
  t.match(await storedText(page), 'ABC-1')
  await placed(page)
  t.equal(await storedText(page), '{}')
  t.ok(await isBlank(page))
})

t.test('a refused order is kept, and so is what is corrected in it', async (t) => {
  const { page } = await visit(t, shop, {}, [409])
  await pressOrder(page, shop, 'ABC-1')
  await page.getByLabel('Quantity 1').fill('999999')
  await place(page)
  await page.getByRole('alert').waitFor()
  await page.goto(`${shop.url}/products`)
  await openForm(page, shop)
  t.same(await linesOf(page), [['ABC-1', '999999']])
  t.equal(await page.getByRole('alert').count(), 0, 'the shop has not judged it as it is now')
  await page.getByLabel('Quantity 1').fill('999998')
  await place(page)
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Quantity 1').fill('2')
  await openForm(page, shop)
  t.same(await linesOf(page), [['ABC-1', '2']])
})

t.test('a refused form that the shop sends back is shown as it is, and is the order in progress from then on', async (t) => {
  const { page } = await visit(t, shop, {}, [409])
  await openForm(page, shop, '?product=ABC-1')
  await page.getByLabel('Quantity 1').fill('999999')
  // What is stored differs from what is sent.
  await page.evaluate(`sessionStorage.setItem('${key}', sessionStorage.getItem('${key}').replace('ABC-1', 'EL-MCB-B16'))`)
  await page.getByRole('button', { name: 'Check it only' }).click()
  await page.getByRole('alert').waitFor()
  await ready(page)
  t.same(await linesOf(page), [['ABC-1', '999999']])
  t.equal(await page.getByLabel('Quantity 1').getAttribute('aria-invalid'), 'true')
  t.equal(await notice(page).count(), 0)
  await openForm(page, shop)
  t.same(await linesOf(page), [['ABC-1', '999999']])
})

t.test('an order that is only checked is kept, until the page that shows it places it', async (t) => {
  const { page } = await visit(t, shop)
  await openForm(page, shop, '?product=ABC-1&quantity=2')
  const check = async () => {
    await page.getByRole('button', { name: 'Check it only' }).click()
    await page.getByText('Nothing was ordered').waitFor()
  }
  await check()
  await openForm(page, shop)
  t.same(await linesOf(page), [['ABC-1', '2']])
  await check()
  await page.getByRole('button', { name: 'Change it' }).click()
  await page.getByLabel('Quantity 1').fill('3')
  await openForm(page, shop)
  t.same(await linesOf(page), [['ABC-1', '3']])
  await check()
  await placed(page)
  t.ok(await isBlank(page))
})

const problem = (status: number, code: string, title: string) => ({
  status,
  contentType: 'application/problem+xml',
  body: `<problem xmlns="urn:ietf:rfc:7807"><type>/problems/${code}</type><title>${title}</title><status>${status}</status></problem>`
})

for (const [answer, message] of [
  [{ status: 502, body: 'bad gateway' }, 'Your order may have arrived'],
  [problem(503, 'store-unavailable', 'No database'), 'No database'],
  [problem(409, 'idempotency-in-flight', 'It still runs'), 'It still runs']
] as const) {
  t.test(`after a ${answer.status} that says “${message}” the order is not kept, because it may have arrived`, async (t) => {
    const { page } = await visit(t, shop, {}, [answer.status])
    await openForm(page, shop, '?product=ABC-1&quantity=2')
    t.match(await storedText(page), 'ABC-1')
    await page.route('**/order', (route) => route.fulfill(answer), { times: 1 })
    await place(page)
    await page.getByText(message).waitFor()
    await page.getByLabel('Order number').fill('PO-1')
    t.equal(await storedText(page), '{}', 'nor is it when it is edited')
    await page.reload()
    await ready(page)
    t.same(await linesOf(page), [])
  })
}

t.test('only what a person types is kept, and nothing of the form that changes an order', async (t) => {
  const { page } = await visit(t, shop)
  const line = { product: { productId: 'ABC-1' }, quantity: '4' as never, notes: ['secret note'] }
  const { order } = await shop.store.placeOrder({ order: { items: [line], notes: [], extensions: [] }, status: 'accepted' })
  await signIn(page, shop, await shop.key('Typist', 'order', 'fulfilment'))
  await openForm(page, shop, '?product=EL-MCB-B16')
  await page.getByLabel('Order number').fill('PO-5')
  t.same(JSON.parse(await page.evaluate<string>(`sessionStorage.getItem('${key}')`)), {
    version: 1,
    customer: 'Typist',
    lines: [{ 'product-id': 'EL-MCB-B16' }],
    fields: { 'order-number': 'PO-5' }
  })
  const before = await storedText(page)
  await signOut(page)
  await page.goto(`${shop.url}/order/${order.id}?form=change`)
  await page.getByRole('button', { name: 'Remove line 1' }).waitFor()
  t.same(await linesOf(page), [['ABC-1', '4', 'secret note']])
  t.equal(await notice(page).count(), 0)
  await page.getByLabel('Order number').fill('PO-6')
  t.equal(await storedText(page), before)
})

t.test('what a customer typed is shown to no other customer, and to nobody who has signed out', async (t) => {
  const { page } = await visit(t, shop)
  const [acme, beta] = await Promise.all([shop.key('Acme', 'order', 'fulfilment'), shop.key('Beta', 'order', 'fulfilment')])
  const type = async () => {
    await openForm(page, shop, '?product=ABC-1')
    await page.getByLabel('Order number').fill('ACME-1')
  }
  await signIn(page, shop, acme)
  await type()
  await openForm(page, shop)
  t.equal(await page.getByLabel('Order number').inputValue(), 'ACME-1', 'the customer has it back')
  await signOut(page)
  await signIn(page, shop, beta)
  t.ok(await isBlank(page), 'another customer')
  t.equal(await storedText(page), '{}')
  await signOut(page)
  await signIn(page, shop, acme)
  await type()
  await signOut(page)
  t.ok(await isBlank(page), 'signed out')
  t.equal(await storedText(page), '{}')
})

t.test('what a guest has begun goes on when they sign in', async (t) => {
  const { page } = await visit(t, shop)
  await openForm(page, shop, '?product=ABC-1')
  await page.getByLabel('Quantity 1').fill('2')
  await signIn(page, shop, await shop.key('Gamma', 'order', 'fulfilment'))
  await pressOrder(page, shop, 'EL-MCB-B16')
  t.same(await linesOf(page), [
    ['ABC-1', '2'],
    ['EL-MCB-B16', '']
  ])
  await signOut(page)
  t.ok(await isBlank(page), 'then it is the customer’s')
})

t.test('a value that is no draft, or one of another version of the form, is ignored and replaced', async (t) => {
  const { page } = await visit(t, shop)
  const draft = { version: 1, customer: '', lines: [{ 'product-id': 'EL-MCB-B16' }], fields: {} }
  await openForm(page, shop)
  const put = (value: string) => page.evaluate(`sessionStorage.setItem('${key}', ${JSON.stringify(value)})`)
  for (const value of [
    '{"version":1,',
    'null',
    '7',
    JSON.stringify({ ...draft, version: 0 }),
    JSON.stringify({ ...draft, lines: 'x' }),
    JSON.stringify({ ...draft, lines: [null] }),
    JSON.stringify({ ...draft, lines: [{ 'product-id': { a: 1 } }] }),
    JSON.stringify({ ...draft, fields: undefined }),
    JSON.stringify({ ...draft, lines: Array.from({ length: 1001 }, () => draft.lines[0]) })
  ]) {
    await put(value)
    await openForm(page, shop, '?product=ABC-1')
    t.same(await linesOf(page), [['ABC-1', '']], value.slice(0, 60))
    t.equal(await notice(page).count(), 0)
    t.match(JSON.parse(await page.evaluate<string>(`sessionStorage.getItem('${key}')`)), { version: 1, lines: [{ 'product-id': 'ABC-1' }] })
  }
  await put(JSON.stringify({ ...draft, fields: { 'no-such-field': 'x', 'order-number': 'PO-1' } }))
  await openForm(page, shop)
  t.equal(await page.getByLabel('Order number').inputValue(), 'PO-1', 'a field that the form lacks is left out')
})

t.test('where the browser stores nothing, the form works as without a draft', async (t) => {
  const { page } = await visit(t, shop)
  await page.addInitScript(`Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError') } })`)
  await pressOrder(page, shop, 'EL-MCB-B16')
  await pressOrder(page, shop, 'ABC-1')
  t.same(await linesOf(page), [['ABC-1', '']])
  await page.reload()
  await ready(page)
  t.same(await linesOf(page), [['ABC-1', '']], 'the address still has the product')
  await page.getByLabel('Quantity 1').fill('2')
  await page.getByRole('button', { name: 'Check it only' }).click()
  await page.getByText('Nothing was ordered').waitFor()
  await placed(page)
})

t.test('a storage that is full keeps no draft that is out of date', async (t) => {
  const { page } = await visit(t, shop)
  await openForm(page, shop, '?product=ABC-1')
  t.match(await storedText(page), 'ABC-1')
  await page.evaluate(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`)
  await page.getByLabel('Quantity 1').fill('2')
  t.equal(await storedText(page), '{}')
})

t.test('a page that the browser has kept shows the draft as it is now when the browser goes back to it', async (t) => {
  const { page } = await visit(t, shop)
  await openForm(page, shop, '?product=ABC-1')
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  // Browsers under test keep no pages. The event is the one that such a page gets.
  const back = `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`
  await page.evaluate(back)
  await page.getByLabel('Quantity 1').fill('2')
  await page.evaluate(`sessionStorage.setItem('${key}', sessionStorage.getItem('${key}').replace('ABC-1', 'EL-MCB-B16'))`)
  const reloaded = page.waitForEvent('load')
  await page.evaluate(back)
  await reloaded
  await ready(page)
  t.same(await linesOf(page), [['EL-MCB-B16', '2']])
  t.equal(loads, 1, 'it stays as it is where nothing has changed')
})
