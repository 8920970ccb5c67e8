import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { buildApp } from '../../app.ts'
import { readConfig } from '../../config.ts'
import type { Scope } from '../../domain/caller.ts'
import type { Store } from '../../domain/store.ts'
import { hashKey } from '../../http/credentials.ts'
import { loadSample } from '../../sample.ts'
import { openStore } from '../../stores/open.ts'
import { sharedDocuments } from '../documents/shared.ts'
import { patience } from '../patience.ts'

/** A shop that listens, with the sample catalogue, and a browser that looks at it. */
export interface OpenShop {
  readonly url: string
  readonly store: Store
  readonly browser: Browser
  /** A key, as a person would type it in. */
  key(customer: string, ...scopes: Scope[]): Promise<string>
  close(): Promise<void>
}

/** Chromium without the windows of a desktop takes half the processor time: the same pages, but no toolbar for each of them. */
const headlessShell = '/usr/bin/chromium-headless-shell'
const executablePath = process.env.CHROMIUM ?? (existsSync(headlessShell) ? headlessShell : '/usr/bin/chromium')
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // A process less, and a sixth less processor time.
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

/** One browser for all shops that are open in this process: to start one takes seconds of processor time. */
let launched: Promise<Browser> | undefined
let openShops = 0

async function closeBrowser(): Promise<void> {
  openShops -= 1
  if (openShops > 0) return
  const closing = launched
  launched = undefined
  await (await closing)?.close()
}

export async function openShop(settings: Readonly<Record<string, string>> = {}): Promise<OpenShop> {
  const folder = mkdtempSync(join(tmpdir(), 'tradepost-browser-'))
  const config = readConfig({
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    OVERLOAD_DELAY: 'off',
    ...patience,
    DATABASE_URL: `sqlite:${join(folder, 'shop.db')}`,
    ...settings
  })
  const store = await openStore(config.DATABASE_URL, config.CURRENCY)
  await loadSample(store)
  const app = await buildApp({ config, store, documents: sharedDocuments, release: 'browser' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  openShops += 1
  launched ??= chromium.launch({ executablePath, args })
  const browser = await launched
  return {
    url: `http://127.0.0.1:${port}${config.BASE_URL.path}`,
    store,
    browser,
    async key(customer, ...scopes) {
      const key = `tp_${customer.toLowerCase().replace(/\W/g, '')}${'0'.repeat(24)}`
      await store.createKey({ customer, scopes, hash: hashKey(key) })
      return key
    },
    async close() {
      await closeBrowser()
      app.server.closeAllConnections()
      await app.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/**
 * Opens a window. The test fails at its end if the window had errors that no person would see: console errors, exceptions, violations of
 * the CSP, requests to other hosts.
 * @param expected statuses of answers that count as no error
 */
export async function visit(
  t: Test,
  shop: OpenShop,
  options: BrowserContextOptions = {},
  expected: readonly number[] = []
): Promise<{ readonly page: Page }> {
  const context = await shop.browser.newContext({ viewport: { width: 1200, height: 900 }, reducedMotion: 'reduce', ...options })
  // The test has a time limit of its own, so nothing in it needs another: neither its waits nor the requests of a page's scripts.
  context.setDefaultTimeout(0)
  await context.addInitScript('AbortSignal.timeout = () => new AbortController().signal')
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    const isExpected = expected.some((status) => message.text().includes(`status of ${status}`))
    if ((message.type() === 'error' || message.type() === 'warning') && !isExpected) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${new URL(shop.url).origin}/`) && !request.url().startsWith('data:'))
      complaints.push(`request elsewhere: ${request.url()}`)
  })
  t.teardown(async () => {
    await context.close()
    if (complaints.length > 0) throw new Error(complaints.join('\n'))
  })
  return { page }
}

/** Clicks a link to another URI, and waits until that page is whole: what is read next is not of the page before. */
export async function follow(page: Page, link: Locator): Promise<void> {
  const target = new URL((await link.getAttribute('href')) ?? '', page.url()).href
  await link.click()
  await page.waitForURL(target)
}

export async function signIn(page: Page, shop: OpenShop, key: string): Promise<void> {
  await page.goto(`${shop.url}/session`)
  await page.getByLabel('Key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${shop.url}/orders`)
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/**
 * The violations that axe-core finds on the page, by all of its rules except the experimental ones.
 * @param tag of the rules; by default of any
 */
export async function violations(page: Page, tag?: string): Promise<readonly string[]> {
  // Evaluated by the debugger, so the page's own policy stays in force. Once for each document: it is half a megabyte.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const options = JSON.stringify({ resultTypes: ['violations'], ...(tag === undefined ? {} : { runOnly: [tag] }) })
  const found = (await page.evaluate(`axe.run(document, ${options}).then((result) => result.violations)`)) as readonly Violation[]
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join(' | ')}`)
}
