import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { reduce } from './png.ts'
import { openShop, signIn } from './shop.ts'

/** The pictures of the README are written here. They show the main pages of a shop that has some orders. */
const folder = fileURLToPath(new URL('../../docs/', import.meta.url))
const shop = await openShop({ SHOP_NAME: 'Tradepost' })

const customers = ['Brandt Maschinenbau', 'Northfield Joinery', 'Oakline Interiors', undefined]
const baskets: readonly (readonly (readonly [id: string, quantity: string])[])[] = [
  [
    ['ABC-1', '12'],
    ['EL-MCB-B16', '6']
  ],
  [['CH-GREASE-EP2-400', '8']],
  [
    ['EL-H07RN-5G2.5', '37.5'],
    ['EL-LAMP-LED-4000', '3']
  ],
  [['ABC-1', '4']],
  [
    ['EL-LEVER-3P', '120'],
    ['ABC-1', '2']
  ]
]
let id = ''
for (const [i, items] of baskets.entries()) {
  const customer = customers[i % customers.length]
  const { order } = await shop.store.placeOrder({
    order: {
      orderNumber: `PO-2026-${String(40 + i).padStart(4, '0')}`,
      requestedDeliveryDate: '2026-12-01',
      buyer: {
        name: customer ?? 'Halden & Sons',
        email: 'purchasing@example.com',
        address: { street: 'Werkstraße 12', postalCode: '70565', city: 'Stuttgart', country: 'DE' }
      },
      shipTo: { name: 'Plant 2, gate C', address: { street: 'Industriering 4', postalCode: '71034', city: 'Böblingen', country: 'DE' } },
      items: items.map(([productId, quantity]) => ({ product: { productId }, quantity: quantity as never, notes: [] })),
      notes: ['Deliveries from 7 to 15 h.'],
      extensions: []
    },
    status: i === 4 ? 'received' : 'accepted',
    ...(customer ? { customer } : {})
  })
  if (i === 0) id = order.id
  if (i < 2) await shop.store.setOrderStatus(order.id, i === 0 ? 'shipped' : 'cancelled', {})
}

const wide = { width: 1200, height: 800 }
const phone = { width: 390, height: 800 }

async function open(colorScheme: 'light' | 'dark', viewport: typeof wide): Promise<Page> {
  const context = await shop.browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
  return context.newPage()
}

mkdirSync(folder, { recursive: true })
async function take(page: Page, name: string): Promise<void> {
  await page.waitForLoadState('networkidle')
  writeFileSync(`${folder}${name}.png`, reduce(await page.screenshot()))
}

const light = await open('light', wide)
await light.goto(`${shop.url}/products`)
await take(light, 'products')
await light.goto(`${shop.url}/order?product=ABC-1`)
await light.getByLabel('Quantity 1').fill('3')
await light.getByLabel('Product 2').fill('EL-H07RN-5G2.5')
await light.getByLabel('Quantity 2').fill('12.5')
await light.getByLabel('Quantity 2').blur()
await light.getByText('€82.31').waitFor()
await take(light, 'order-form')
await light.getByLabel('Product 3').fill('NO-SUCH')
await light.getByLabel('Quantity 3').fill('1')
await light.getByRole('button', { name: 'Place the order' }).last().click()
await light.getByRole('alert').waitFor()
await take(light, 'order-refused')
await signIn(light, shop, await shop.key('Seller', 'fulfilment', 'catalogue', 'order'))
await take(light, 'orders')
await light.goto(`${shop.url}/order/${id}`)
await take(light, 'order')

const dark = await open('dark', wide)
await dark.goto(`${shop.url}/product/ABC-1`)
await take(dark, 'product-dark')
await dark.goto(`${shop.url}/`)
await take(dark, 'home-dark')

const small = await open('light', phone)
await small.goto(`${shop.url}/products`)
await take(small, 'products-phone')

await shop.close()
