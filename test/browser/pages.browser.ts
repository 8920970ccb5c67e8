import t from 'tap'
import { openShop, signIn, violations, visit } from './shop.ts'

const shop = await openShop({ WEBHOOK_ALLOW: '127.0.0.1' })
t.teardown(() => shop.close())

const seller = await shop.key('Seller & Sons', 'order', 'fulfilment', 'catalogue')
const placed = await Promise.all(
  ['accepted', 'received'].map((status) =>
    shop.store.placeOrder({
      order: {
        orderNumber: 'PO-1',
        requestedDeliveryDate: '2026-12-01',
        buyer: { name: 'Müller', email: 'a@b.example', address: { street: 'Road 1', city: 'Town', postalCode: '12345', country: 'DE' } },
        shipTo: { name: 'Depot' },
        items: [{ product: { productId: 'ABC-1' }, quantity: '3' as never, notes: ['short'] }],
        notes: ['one\ntwo'],
        extensions: []
      },
      status: status as 'accepted' | 'received'
    })
  )
)
const order = placed[0]?.order.id
await shop.store.setOrderStatus(order ?? '', 'accepted', {}, { details: { expectedDeliveryDate: '2026-12-03', note: 'Two parcels' } })
await shop.store.shipOrder(order ?? '', { carrier: 'DHL', trackingNumber: '0034043416', items: [{ line: 1, quantity: '2' as never }] }, {})
const made = await fetch(`${shop.url}/webhooks`, {
  method: 'POST',
  headers: { authorization: `Bearer ${seller}`, 'content-type': 'application/json' },
  body: JSON.stringify({ url: `http://127.0.0.1:9/${'long'.repeat(40)}` })
})
const webhook = made.headers.get('location')

const { tags } = (await (await fetch(`${shop.url}/openapi.json`)).json()) as { tags: readonly { readonly name: string }[] }

/** Every kind of page. Those with a status are pages of refusals. */
const pages: readonly (readonly [path: string, status?: number])[] = [
  ['/'],
  ['/products'],
  ['/products?limit=10'],
  ['/products?q=hex&category=Fasteners'],
  ['/products?q=nothinglikethis'],
  ['/product/ABC-1'],
  ['/product/ABC-1/stock'],
  ['/order?product=ABC-1'],
  [`/order/${order}`],
  [`/order/${order}?form=change`],
  [`/order/${order}?form=again`],
  [`/order/${order}/status`],
  [`/order/${order}/shipments`],
  [`/order/${order}/shipment/1`],
  ['/orders'],
  ['/orders?status=shipped'],
  ['/orders?customer=Nobody'],
  ['/events'],
  ['/events?type=webhook-disabled'],
  ['/webhooks'],
  [`${webhook}`],
  [`${webhook}/deliveries`],
  ['/session'],
  ['/docs'],
  ...tags.map(({ name }) => [`/docs/${name.toLowerCase()}`] as const),
  ['/problems/order-refused'],
  ['/nothing-here', 404],
  ['/products?limit=x', 400]
]

const colorSchemes = ['light', 'dark'] as const

t.test('every page is accessible, light and dark', async (t) => {
  const { page } = await visit(t, shop, {}, [400, 404])
  await signIn(page, shop, seller)
  for (const [path, status = 200] of pages) {
    const answer = await page.goto(`${shop.url}${path}`, { waitUntil: 'networkidle' })
    t.equal(answer?.status(), status, path)
    for (const colorScheme of colorSchemes) {
      await page.emulateMedia({ colorScheme })
      // The dark page differs in its colours only.
      t.same(
        await violations(page, colorScheme === 'dark' ? 'cat.color' : undefined),
        [],
        `axe has nothing against ${path}, ${colorScheme}`
      )
    }
    t.ok(
      (await page.title()).length > 3 &&
        (await page.locator('html').getAttribute('lang')) === 'en' &&
        (await page.locator('h1').count()) === 1,
      `title, language and one heading of ${path}`
    )
    t.ok(((await answer?.body())?.length ?? 0) < 50_000, `${path} is less than 50 KB`)
  }
})

for (const colorScheme of colorSchemes) {
  t.test(`pages for people who are not signed in, and forms with errors, are accessible, ${colorScheme}`, async (t) => {
    const { page } = await visit(t, shop, { colorScheme }, [401, 404, 422])
    for (const path of ['/orders', '/session']) {
      await page.goto(`${shop.url}${path}`)
      t.same(await violations(page), [], path)
    }
    await page.getByLabel('Key').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is not valid').waitFor()
    t.same(await violations(page), [], 'a wrong key')
    await page.goto(`${shop.url}/order`)
    await page.locator('#document').waitFor({ state: 'visible' })
    await page.getByText('Show the XML').click()
    await page.getByText('Ship to another address').click()
    await page.getByLabel('Product 1').fill('NO-SUCH')
    await page.getByLabel('Quantity 1').fill('1')
    await page.getByRole('button', { name: 'Place the order' }).last().click()
    await page.getByRole('alert').waitFor()
    t.same(await violations(page), [], 'a refused order')
  })
}

t.test('a phone shows every page without scrolling sideways', async (t) => {
  const { page } = await visit(t, shop, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }, [400, 404])
  await signIn(page, shop, seller)
  for (const [path] of pages) {
    await page.goto(`${shop.url}${path}`)
    const widths = (await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.clientWidth]')) as number[]
    t.ok((widths[0] ?? 0) <= (widths[1] ?? 0), `${path}: ${widths.join(' in ')}`)
  }
})

t.test('a phone of 360 pixels shows the navigation in one line, and a smaller one shows all of it', async (t) => {
  const { page } = await visit(t, shop, { viewport: { width: 360, height: 640 } })
  await signIn(page, shop, seller)
  for (const [width, lines] of [
    [360, [1]],
    [320, [1, 2]]
  ] as const) {
    await page.setViewportSize({ width, height: 640 })
    for (const path of ['/', '/products', '/product/ABC-1', '/order', `/order/${order}`, '/orders', '/session']) {
      await page.goto(`${shop.url}${path}`)
      const boxes = (await page
        .locator('.top nav a')
        .evaluateAll((links) =>
          links.map((link) => link.getBoundingClientRect()).map(({ top, left, right }) => ({ top, left, right }))
        )) as {
        top: number
        left: number
        right: number
      }[]
      const tops = new Set(boxes.map(({ top }) => top))
      t.ok((lines as readonly number[]).includes(tops.size), `${path} at ${width}: ${[...tops].join(', ')}`)
      t.ok(
        boxes.every(({ left, right }) => left >= 0 && right <= width),
        `${path} at ${width}`
      )
    }
  }
})

t.test('the links that order a product are whole words on every width, and the list of products does not scroll sideways', async (t) => {
  const { page } = await visit(t, shop)
  for (const width of [320, 390, 710, 768, 1024, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(`${shop.url}/products?category=Fasteners`)
    const links = page.locator('.products td:last-child a')
    const heights = (await links.evaluateAll((found) => found.map((link) => link.getClientRects().length))) as number[]
    t.ok(heights.length > 3 && heights.every((lines) => lines === 1), `${width}: lines of the links: ${heights.join()}`)
    t.ok(await page.evaluate(`document.documentElement.scrollWidth <= ${width}`), `${width}: it fits`)
  }
})

t.test('on a phone the cells at the right end there, and the links of statuses are as high as a finger needs', async (t) => {
  const { page } = await visit(t, shop, { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true })
  await signIn(page, shop, seller)
  await page.goto(`${shop.url}/order/${order}`)
  const quantity = page.locator('.items > tbody > tr > :nth-child(3)').first()
  t.match(await quantity.innerText(), /3 units\s+2 shipped, 1 to come/)
  t.equal(await page.evaluate(`getComputedStyle(document.querySelector('.items > tbody > tr > :nth-child(3)')).textAlign`), 'right')
  await page.goto(`${shop.url}/orders`)
  const heights = (await page
    .locator('a.state')
    .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().height))) as number[]
  t.ok(heights.length > 0 && heights.every((height) => height >= 24), heights.join())
})

t.test('on a phone the first screen of a page of the documentation has more than its menu', async (t) => {
  const { page } = await visit(t, shop, { viewport: { width: 375, height: 800 }, isMobile: true, javaScriptEnabled: false })
  for (const path of ['/docs', '/docs/orders']) {
    await page.goto(`${shop.url}${path}`)
    const { y = 0 } = (await page.locator('main h2').first().boundingBox()) ?? {}
    t.ok(y > 0 && y < 600, `${path}: the first heading is at ${y} of 800`)
  }
})

t.test('dark mode is dark, light mode light', async (t) => {
  for (const [colorScheme, isDark] of [
    ['dark', true],
    ['light', false]
  ] as const) {
    const { page } = await visit(t, shop, { colorScheme })
    await page.goto(`${shop.url}/products`)
    const background = (await page.evaluate('getComputedStyle(document.body).backgroundColor')) as string
    const [red = 0] = (/\d+/.exec(background) ?? []).map(Number)
    t.equal(red < 128, isDark, `${colorScheme}: ${background}`)
  }
})

t.test('nothing moves while a page loads', async (t) => {
  const { page } = await visit(t, shop)
  // On a slow network the scripts arrive after the page was painted.
  await page.route('**/*.js?*', async (route) => {
    while ((await page.evaluate('performance.getEntriesByName("first-contentful-paint").length')) === 0);
    await route.continue()
  })
  for (const path of ['/', '/products', '/product/ABC-1', '/order', `/order/${order}`]) {
    await page.addInitScript(
      'window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value }).observe({ type: "layout-shift", buffered: true })'
    )
    await page.goto(`${shop.url}${path}`, { waitUntil: 'networkidle' })
    const shift = (await page.evaluate('window.shift')) as number
    t.ok(shift < 0.02, `${path}: ${shift}`)
  }
})

t.test('the keyboard reaches the content first by the skip link, and shows where it is', async (t) => {
  const { page } = await visit(t, shop)
  await page.goto(`${shop.url}/products`)
  await page.keyboard.press('Tab')
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
  t.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${shop.url}/products#content`)
  t.equal(await page.evaluate('location.hash'), '#content')
})

t.test('a printed order has nothing that is only for the screen', async (t) => {
  const { page } = await visit(t, shop)
  await page.goto(`${shop.url}/order/${order}`)
  await page.emulateMedia({ media: 'print' })
  t.notOk(await page.getByRole('navigation').first().isVisible())
  t.notOk(await page.getByRole('link', { name: 'Change this order' }).isVisible())
  t.ok(await page.locator('table').isVisible())
})

t.test('no page tells the next one its path, which may be an order that only its URI protects', async (t) => {
  for (const javaScriptEnabled of [true, false]) {
    const { page } = await visit(t, shop, { javaScriptEnabled })
    await page.goto(`${shop.url}/product/ABC-1`)
    const next = page.waitForRequest(/\/products$/)
    await page.getByRole('link', { name: 'Products' }).first().click()
    t.equal((await (await next).allHeaders())['referer'], `${shop.url}/`)
  }
})
