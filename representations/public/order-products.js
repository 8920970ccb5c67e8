// The products of the order form: looks them up, suggests them by name, and formats their prices.

import { make } from './order-errors.js'
import { pageData } from './order-page.js'
import { quantityLimits } from './order-sums.js'

const { products, product, currency, digits, stock: stockTexts, units } = pageData
const productId = new RegExp(`^${pageData.productId}$`)
const catalogue = document.getElementById('catalogue')

/** Formats a decimal. A price may have more fraction digits than the currency: up to 4. */
function money(value) {
  return new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: 4
  }).format(value)
}

/** Formats an amount in the currency's minor unit. */
export function total(minor) {
  const text = minor.toString().padStart(digits + 1, '0')
  const at = text.length - digits
  return money(digits === 0 ? text : `${text.slice(0, at)}.${text.slice(at)}`)
}

const notFound = { wrong: pageData.notFound }
const gone = { wrong: 'This product is no longer sold.' }
const unavailable = { wrong: 'This product cannot be looked up now.' }

/** Products, or promises of them, by number: their names and prices, or what is wrong. */
export const known = new Map()

let cache = 'default'

const get = (uri) => fetch(uri, { headers: { accept: 'application/json' }, cache, signal: AbortSignal.timeout(10_000) })

/** Forgets all products, because they have changed. The service is asked again for each, also if the browser has kept an answer. */
export function forgetProducts() {
  known.clear()
  cache = 'no-cache'
}

async function ask(id) {
  const scanned = await askForBarcode(id)
  if (scanned) return scanned
  const answer = await get(`${product}${id}`)
  if (answer.status === 404) return notFound
  if (answer.status === 410) return gone
  if (!answer.ok) return unavailable
  return describe(await answer.json())
}

/** @returns what a line needs of its product: `shown` is the price for people, such as "€9.99 each, out of stock" */
function describe(found) {
  const { name, price, unit, availability } = found
  const stock = stockTexts[availability]
  const shown = `${money(price.value)} ${units[unit]?.per ?? `per ${unit}`}${stock ? `, ${stock}` : ''}`
  return { name, price: price.value, shown, ...quantityLimits(found, units[unit]?.step) }
}

/** The most pages of products to look at for a barcode. */
const mostPages = 20

/** Finds the product with a GTIN, which a scanner types. A product whose number looks like a GTIN goes first. */
async function askForBarcode(code) {
  if (!/^(?:\d{8}|\d{12,14})$/.test(code)) return undefined
  // A GTIN is the same with zeros before it.
  const isSame = ({ gtin }) => gtin?.padStart(14, '0') === code.padStart(14, '0')
  const coded = []
  let next = `${products}?${new URLSearchParams({ q: code, limit: '50' })}`
  // Other products may mention the number, so the one that has it may be on a later page.
  for (let pages = 1; next !== undefined; pages += 1) {
    if (pages > mostPages) return unavailable
    const answer = await get(next)
    if (!answer.ok) return unavailable
    const { product: found, link } = await answer.json()
    const own = found.find(({ id }) => id === code)
    if (own) return { id: code, ...describe(own) }
    coded.push(...found.filter(isSame))
    next = link.find(({ rel }) => rel === 'next')?.href
  }
  const one = coded.find(({ gtin }) => gtin === code) ?? coded[0]
  return one && { id: one.id, ...describe(one) }
}

let lastLookup = Promise.resolve()

/** Looks up a product once. Requests go one after the other, since an order may have hundreds of lines. A failed one is retried. */
export function lookUp(id) {
  if (!productId.test(id) || id === '.' || id === '..') return notFound
  if (!known.has(id)) {
    const asked = lastLookup.then(() => ask(id)).catch(() => unavailable)
    lastLookup = asked
    known.set(id, asked)
    void asked.then((answer) => answer === unavailable && known.delete(id))
  }
  return known.get(id)
}

let lastSearch = 0

/** Suggests products that match the words, using the search of /products. */
export async function suggest(words) {
  const mine = ++lastSearch
  await new Promise((resolve) => setTimeout(resolve, 250))
  if (mine !== lastSearch || words.length < 2) return
  const query = new URLSearchParams({ q: words, limit: '20' })
  const answer = await fetch(`${products}?${query}`, { headers: { accept: 'application/json' } }).catch(() => undefined)
  if (mine !== lastSearch || !answer?.ok) return
  const there = new Set([...catalogue.options].map((option) => option.value))
  for (const { id, name } of (await answer.json()).product) if (!there.has(id)) catalogue.append(make('option', { value: id }, name))
}
