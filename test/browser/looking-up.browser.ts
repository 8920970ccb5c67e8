import t from 'tap'
import { openShop, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())

t.test('elements that only the script fills are absent without it', async (t) => {
  const { page } = await visit(t, shop, { javaScriptEnabled: false })
  await page.goto(`${shop.url}/order?product=ABC-1`)
  t.notOk(await page.getByText('Total').isVisible())
  t.notOk(await page.getByText('The document that is sent').isVisible())
  await page.getByLabel('Product 2').fill('EL-LEVER-3P')
  await page.getByRole('button', { name: 'Look the products up' }).click()
  await page.locator('.lines output').nth(1).filter({ hasText: /€/ }).waitFor()
  t.notOk(await page.getByText('There is no product').isVisible())
  t.notOk(await page.getByText('Enter moves to the next line').isVisible())
  await page.getByLabel('Product 3').fill('NOPE-9')
  await page.getByRole('button', { name: 'Look the products up' }).click()
  await page.getByText('There is no product with this number.').waitFor()
  t.equal(await page.getByLabel('Product 3').getAttribute('aria-invalid'), 'true')
  const { page: scripted } = await visit(t, shop)
  await scripted.goto(`${shop.url}/order?product=ABC-1`)
  await scripted.getByText('Total').waitFor()
  t.ok(await scripted.getByText('Enter moves to the next line').isVisible())
  t.notOk(await scripted.getByRole('button', { name: 'Look the products up' }).isVisible(), 'the script looks them up by itself')
})

t.test('products are offered while their names are typed', async (t) => {
  const { page } = await visit(t, shop)
  await page.goto(`${shop.url}/order`)
  await page.locator('#document').waitFor({ state: 'visible' })
  await shop.store.createProduct('ZZ-1', {
    name: 'Zwischenstück verzinkt',
    price: '1' as never,
    unit: 'C62',
    categories: [],
    images: [],
    backorder: true
  })
  await page.getByLabel('Product 1').pressSequentially('zwisch')
  await page.locator('#catalogue option[value="ZZ-1"]').waitFor({ state: 'attached' })
})
