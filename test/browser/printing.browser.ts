import type { Page } from 'playwright-core'
import t from 'tap'
import { openShop, signIn, visit } from './shop.ts'

const shop = await openShop()
t.teardown(() => shop.close())
const buyer = await shop.key('Acme', 'order')

const { order } = await shop.store.placeOrder({
  order: {
    orderNumber: 'PO-PRINTED',
    items: Array.from({ length: 30 }, (_, i) => ({
      product: { productId: 'ABC-1' },
      quantity: String(i + 1) as never,
      lineId: String((i + 1) * 10),
      notes: i % 5 === 0 ? ['For machine 17, please label each bag with our material number 000000000001234567'] : []
    })),
    buyer: { name: 'Acme', address: { street: 'Road 1', city: 'Town', postalCode: '12345', country: 'DE' } },
    notes: [],
    extensions: []
  },
  customer: 'Acme',
  status: 'accepted'
})

function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${property}')`)
}

/** The content of A4 between margins, in CSS pixels. */
const widths = { '10 mm': 718, 'an inch': 602 }

for (const [margin, width] of Object.entries(widths)) {
  t.test(`an order is printed as a table with its columns, on A4 with margins of ${margin}`, async (t) => {
    const { page } = await visit(t, shop, { viewport: { width, height: 1000 } })
    await signIn(page, shop, buyer)
    await page.goto(`${shop.url}/order/${order.id}`)
    await page.emulateMedia({ media: 'print' })
    const head = await page.locator('.items > thead th').evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().x))
    const first = await page
      .locator('.items > tbody > tr')
      .first()
      .locator('> *')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().x))
    t.same(first, head, 'each cell is below its heading')
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'), 'it fits the width')
    t.equal(await styleOf(page, '.items', 'break-inside'), 'auto', 'it may go on from page to page')
    const foot = await styleOf(page, '.items > tfoot', 'display')
    t.equal(foot, 'table-row-group', 'a footer group would be printed below the lines of every page, like a subtotal')
    t.ok(Number.parseFloat(await styleOf(page, '.items', 'font-size')) < 14, 'the print is small')
  })
}

t.test('thirty lines are printed on two pages, and none before them is blank', async (t) => {
  const { page } = await visit(t, shop)
  await signIn(page, shop, buyer)
  await page.goto(`${shop.url}/order/${order.id}`)
  const margin = '10mm'
  const pdf = await page.pdf({ format: 'A4', margin: { top: margin, right: margin, bottom: margin, left: margin } })
  t.equal(pdf.toString('latin1').match(/\/Type \/Page\b(?!s)/g)?.length, 2)
})

t.test('a status is printed in dark ink, in a dark window too', async (t) => {
  const { page } = await visit(t, shop, { colorScheme: 'dark' })
  await signIn(page, shop, buyer)
  await page.goto(`${shop.url}/order/${order.id}`)
  const luminance = async () => {
    const colour = await styleOf(page, '.headline .state', 'color')
    const [red = 0, green = 0, blue = 0] = (/rgb\((.*)\)/.exec(colour)?.[1] ?? '').split(',').map(Number)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  t.ok((await luminance()) > 128, 'it is pale on the screen')
  await page.emulateMedia({ media: 'print' })
  t.ok((await luminance()) < 100, 'and dark on paper')
})
