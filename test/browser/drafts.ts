import type { Page } from 'playwright-core'
import type { OpenShop } from './shop.ts'

/** Waits until the script of the order form runs. */
export const ready = (page: Page) => page.locator('#document').waitFor({ state: 'visible' })

/** Opens the form of a new order. */
export async function openForm(page: Page, shop: OpenShop, query = ''): Promise<void> {
  await page.goto(`${shop.url}/order${query}`)
  await ready(page)
}

/** Presses the link that orders a product, on the product's page. */
export async function pressOrder(page: Page, shop: OpenShop, id: string): Promise<void> {
  await page.goto(`${shop.url}/product/${id}`)
  await page.getByRole('link', { name: 'Order this product' }).click()
  await ready(page)
}

/** What the fields of the lines have, without blank lines. */
export const linesOf = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.lines > li')]
    .map((line) => [...line.querySelectorAll('input:not([type=hidden]), textarea')].map((field) => field.value))
    .filter((values) => values.some((value) => value !== ''))`)

/** The text of the tab's session storage. */
export const storedText = (page: Page) => page.evaluate<string>('JSON.stringify({ ...sessionStorage })')

export const notice = (page: Page) => page.getByRole('status').filter({ hasText: 'Your order in progress was restored.' })

export const place = (page: Page) => page.getByRole('button', { name: 'Place the order' }).last().click()

export async function placed(page: Page): Promise<void> {
  await place(page)
  await page.waitForURL(/\/order\/[0-9a-f-]{36}$/)
}
