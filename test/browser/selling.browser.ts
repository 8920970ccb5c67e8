import t from 'tap'
import { openShop, signIn, violations, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())
const seller = await shop.key('Seller', 'fulfilment', 'order', 'catalogue')

async function place(status: 'accepted' | 'received' = 'accepted') {
  const { order } = await shop.store.placeOrder({
    order: { items: [{ product: { productId: 'ABC-1' }, quantity: '1' as never, notes: [] }], notes: [], extensions: [] },
    status
  })
  return order
}

for (let i = 0; i < 12; i++) await place()

t.test('the seller sees orders first, on a small desk too', async (t) => {
  const { page } = await visit(t, shop, { viewport: { width: 1280, height: 900 } })
  await signIn(page, shop, seller)
  const tops = async (selector: string) =>
    (await page.locator(selector).evaluateAll((found) => found.map((one) => one.getBoundingClientRect().top))) as number[]
  const [rows, charts] = [await tops('table.list > tbody > tr'), await tops('figure')]
  t.ok(rows.filter((top) => top < 860).length >= 10, `rows at ${rows.join(', ')}`)
  t.equal(charts.length, 2)
  t.ok(Math.min(...charts) > Math.max(...rows.slice(0, 12)), 'the pictures come after them')
})

for (const javaScriptEnabled of [false, true]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  for (const [from, what, done] of [
    ['accepted', 'Cancel', 'Cancelled'],
    ['received', 'Reject', 'Rejected'],
    ['received', 'Cancel', 'Cancelled']
  ] as const) {
    t.test(`the seller can ${what.toLowerCase()} what is ${from}, but not with one click, ${how}`, async (t) => {
      const { page } = await visit(t, shop, { javaScriptEnabled })
      await signIn(page, shop, seller)
      const order = await place(from)
      await page.goto(`${shop.url}/order/${order.id}/status`)
      const confirm = page.getByRole('button', { name: `${what} the order now` })
      t.notOk(await confirm.isVisible())
      await page.getByText(`${what} this order…`).dblclick()
      t.notOk(await confirm.isVisible(), 'a double click opens and closes it')
      t.equal((await shop.store.order(order.id)).status, from)
      await page.getByLabel('Note for the buyer').fill('We no longer ship there.\nCall us.')
      await page.getByText(`${what} this order…`).click()
      await page.setViewportSize({ width: 320, height: 700 })
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= 320'), 'a small phone does not scroll sideways')
      if (javaScriptEnabled) t.same(await violations(page), [], 'the open confirmation')
      await confirm.click()
      await page.locator('.headline').filter({ hasText: done }).waitFor()
      const { status, sellerNote } = await shop.store.order(order.id)
      t.same([status, sellerNote], [done.toLowerCase(), 'We no longer ship there.\nCall us.'])
      await page.goto(`${shop.url}/order/${order.id}`)
      t.match(await page.getByLabel('From the seller').innerText(), 'We no longer ship there.')
    })
  }

  for (const from of ['received', 'shipped'] as const) {
    t.test(`Enter saves the date of what is ${from}, and leaves its status as it is, ${how}`, async (t) => {
      const { page } = await visit(t, shop, { javaScriptEnabled })
      await signIn(page, shop, seller)
      const order = await place(from === 'received' ? 'received' : 'accepted')
      if (from === 'shipped') await shop.store.setOrderStatus(order.id, 'shipped', {})
      await page.goto(`${shop.url}/order/${order.id}/status`)
      await page.getByLabel('Expected delivery date').fill('2026-12-03')
      await page.getByLabel('Note for the buyer').fill('Soon')
      const saved = page.waitForResponse((response) => response.request().method() === 'POST')
      await page.getByLabel('Expected delivery date').press('Enter')
      t.equal((await saved).status(), 303)
      t.match(await shop.store.order(order.id), { status: from, expectedDeliveryDate: '2026-12-03', sellerNote: 'Soon' })
    })
  }
}

for (const javaScriptEnabled of [false, true]) {
  t.test(
    `a page says once that it was saved, to the eyes and to a screen reader, ${javaScriptEnabled ? 'with scripts' : 'without scripts'}`,
    async (t) => {
      const { page } = await visit(t, shop, { javaScriptEnabled }, [412])
      await signIn(page, shop, seller)
      const order = await place()
      const done = page.locator('#done')
      const saved = async (url: string, text: RegExp) => {
        await page.waitForURL(`${url}#done`)
        t.match(await page.getByRole('status').innerText(), text)
        if (javaScriptEnabled) {
          t.equal(await page.evaluate('document.activeElement.id'), 'done', 'the focus is there, so a screen reader says it')
          t.equal(await page.evaluate('scrollY'), 0, 'the top of the page stays in sight')
          t.same(await violations(page), [])
        }
      }
      const status = `${shop.url}/order/${order.id}/status`
      await page.goto(status)
      t.notOk(await done.isVisible(), 'nothing was saved yet')
      for (const note of ['First', 'Second']) {
        await page.getByLabel('Expected delivery date').fill('2026-12-03')
        await page.getByLabel('Note for the buyer').fill(note)
        const answered = page.waitForResponse((response) => response.request().method() === 'GET' && response.url() === status)
        await page.getByRole('button', { name: 'Save' }).last().click()
        await answered
        await saved(status, /^Saved\. This is the order as it is now\.$/)
        t.equal(await page.getByLabel('Note for the buyer').inputValue(), note)
      }
      await page.getByRole('button', { name: 'Ship', exact: true }).click()
      await saved(`${shop.url}/order/${order.id}/shipment/1`, /^Saved\./)
      await page.goto(`${shop.url}/product/ABC-1/stock`)
      t.notOk(await done.isVisible())
      await shop.store.putStock('ABC-1', '400' as never, {})
      await page.getByLabel('New stock').fill('500')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('alert').waitFor()
      t.notOk(await done.isVisible(), 'a refused form saves nothing')
      await page.getByLabel('New stock').fill('500')
      await page.getByRole('button', { name: 'Save' }).click()
      await saved(`${shop.url}/product/ABC-1/stock`, /^Saved\./)
      await page.setViewportSize({ width: 320, height: 700 })
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= 320'))
      await page.goto(`${shop.url}/orders`)
      await page.goto(`${shop.url}/product/ABC-1/stock`)
      t.notOk(await done.isVisible(), 'the page itself does not say it')
    }
  )
}
