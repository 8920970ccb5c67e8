import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { follow, openShop, signIn, violations, visit } from './shop.ts'

const shop = await openShop({ WEBHOOK_ALLOW: '127.0.0.1' })
t.teardown(() => shop.close())
const key = await shop.key('Seller', 'fulfilment')

for (const javaScriptEnabled of [false, true]) {
  t.test(`a webhook from its form to its deliveries, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async (t) => {
    const receiver = createServer((request, response) => {
      request.resume()
      response.writeHead(204).end()
    })
    await once(receiver.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/incoming`

    const { page } = await visit(t, shop, { javaScriptEnabled }, [412, 422])
    await signIn(page, shop, key)
    await page.goto(`${shop.url}/session`)
    await follow(page, page.getByRole('link', { name: 'Webhooks' }))
    await page.getByLabel('Order placed').check()
    await page.getByLabel('Address').fill('http://10.0.0.1/')
    await page.getByRole('button', { name: 'Add the webhook' }).click()
    await page.getByRole('alert').filter({ hasText: 'https://' }).waitFor()
    t.equal(await page.getByLabel('Address').inputValue(), 'http://10.0.0.1/', 'what was typed is still there')
    t.ok(await page.getByLabel('Order placed').isChecked())
    if (javaScriptEnabled) t.same(await violations(page), [], 'a refused webhook')

    await page.getByLabel('Address').fill(url)
    await page.getByRole('button', { name: 'Add the webhook' }).click()
    const secret = page.getByRole('status').locator('code')
    await secret.waitFor()
    const first = await secret.innerText()
    t.match(first, /^whsec_/)
    await page.reload()
    await page.waitForURL(/\/webhook\/[^/]+$/)
    t.equal(await secret.count(), 0, 'reloading the answer makes no second webhook')
    t.equal((await shop.store.webhooks('Seller')).length, 1)
    if (javaScriptEnabled) t.same(await violations(page), [], 'the page with the secret')
    await page.getByRole('button', { name: 'Make a new secret' }).click()
    await page.waitForURL(/\/secret$/)
    t.not(await secret.innerText(), first)
    await page.reload()
    await page.getByRole('alert').filter({ hasText: 'No other secret was made' }).waitFor()
    if (javaScriptEnabled) t.same(await violations(page), [], 'a repeated form for a secret')
    const webhook = page.url().replace(/\/secret$/, '')
    await page.goto(webhook)
    t.equal(await secret.count(), 0, 'a secret is shown once')

    const delivered = once(receiver, 'request')
    await shop.store.placeOrder({
      order: { items: [{ product: { productId: 'ABC-1' }, quantity: '1' as never, notes: [] }], notes: [], extensions: [] },
      status: 'accepted'
    })
    await delivered
    await page.getByRole('link', { name: 'See the deliveries' }).click()
    const rows = page.locator('.list > tbody > tr')
    // The attempt is logged after the receiver has answered.
    while ((await rows.count()) === 0) await page.reload()
    t.match(await rows.first().innerText(), /Order placed[\s\S]+1\s+Delivered\s+204/)
    await page.getByRole('button', { name: 'Send again' }).click()
    await rows.nth(1).waitFor()
    t.match(await rows.first().innerText(), /by hand\s+Delivered\s+204/)
    t.match(await page.getByRole('status').innerText(), 'The event was sent again.')

    await page.goto(webhook)
    await page.getByRole('button', { name: 'Save and disable' }).click()
    await page.locator('.headline').filter({ hasText: 'Disabled' }).waitFor()
    await page.getByRole('button', { name: 'Save and activate' }).click()
    await page.locator('.headline').filter({ hasText: 'Active' }).waitFor()
    t.match(await page.getByRole('status').innerText(), 'Saved.')
    await page.getByText('Delete this webhook…').click()
    await page.getByRole('button', { name: 'Delete it now' }).click()
    await page.waitForURL(`${shop.url}/webhooks#done`)
    t.equal(await page.getByRole('status').innerText(), 'The webhook was deleted.')
    t.equal(await page.getByText('You have no webhooks yet').count(), 1)
  })
}
