import t from 'tap'
import { hashKey } from '../../http/credentials.ts'
import { place } from './drafts.ts'
import { openShop, signIn, violations, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())

/** A key that is valid until `revoke` ends all keys. */
let keys = 0
async function newKey(): Promise<string> {
  keys += 1
  const key = `tp_acme-${keys}-${'0'.repeat(24)}`
  await shop.store.createKey({ customer: 'Acme', scopes: ['order'], hash: hashKey(key) })
  return key
}
async function revoke(): Promise<void> {
  for (const { id } of await shop.store.keys()) await shop.store.revokeKey(id)
}

for (const javaScriptEnabled of [false, true]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  t.test(`a person whose key is revoked while the form is filled in loses nothing, and signs in again to send it, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [401])
    await signIn(page, shop, await newKey())
    await page.goto(`${shop.url}/order?product=ABC-1`)
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Quantity 1').fill('3')
    await page.getByLabel('Order number').fill(`PO ${how}`)
    await page.getByLabel('Note').fill('typed\nat length')
    await revoke()
    const before = (await shop.store.orders({ limit: 100 })).items.length
    const alert = page.getByRole('alert')
    for (const _attempt of [1, 2]) {
      const answered = page.waitForResponse((response) => response.request().method() === 'POST')
      await place(page)
      await answered
      await alert.filter({ hasText: 'You are no longer signed in as Acme.' }).waitFor()
      t.match(await alert.innerText(), /^Sign in to go on/)
      t.equal(await page.getByText('You order as a guest').count(), 0)
      if (javaScriptEnabled) t.same(await violations(page), [])
    }
    t.equal((await shop.store.orders({ limit: 100 })).items.length, before)
    const opened = page.context().waitForEvent('page')
    await alert.getByRole('link', { name: 'Sign in' }).click()
    const tab = await opened
    await tab.getByRole('status').filter({ hasText: 'You are no longer signed in' }).waitFor()
    if (javaScriptEnabled) t.same(await violations(tab), [])
    await tab.getByLabel('Key').fill(await newKey())
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.waitForURL(`${shop.url}/orders`)
    t.equal(await page.getByLabel('Note').inputValue(), 'typed\nat length')
    await place(page)
    await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
    t.match(await shop.store.order(new URL(page.url()).pathname.split('/').at(-1) ?? ''), {
      customer: 'Acme',
      orderNumber: `PO ${how}`,
      notes: ['typed\nat length'],
      items: [{ quantity: '3' }]
    })
  })

  t.test(`who is no longer signed in signs out to order as a guest, ${how}`, async (t) => {
    const { page } = await visit(t, shop, { javaScriptEnabled }, [401])
    await signIn(page, shop, await newKey())
    await revoke()
    await page.goto(`${shop.url}/order?product=ABC-1`)
    await page.getByText('You are no longer signed in.').waitFor()
    if (javaScriptEnabled) t.same(await violations(page), [])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/\/order(\?product=ABC-1)?$/)
    await page.getByText('You order as a guest').waitFor()
    if (javaScriptEnabled) await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByLabel('Quantity 1').fill('1')
    await place(page)
    await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
    t.equal((await shop.store.order(new URL(page.url()).pathname.split('/').at(-1) ?? '')).customer, undefined)
  })
}
