import t, { type Test } from 'tap'
import type { BuyerRequest, ItemDraft } from '../../dialects/buyer-document.ts'
import { blankDoctype } from '../../dialects/cxml/doctype.ts'
import { isCxml, readCxml } from '../../dialects/cxml/read.ts'
import { isUbl, readUbl } from '../../dialects/ubl/read.ts'
import { anyUnitOf, cxmlPieces } from '../../dialects/units.ts'
import { readElements } from '../../dialects/xml-element.ts'
import { decimal } from '../../domain/money.ts'
import { isGtin, isProductId, type ProductDraft } from '../../domain/product.ts'
import { guard, namespacedLimits } from '../../xml/guard.ts'
import { build, type Shop, xml } from '../build.ts'
import { type Sample, samples } from './samples.ts'

/** The catalogue, currency and order number that a document needs. Undefined: the document cannot be read. */
interface Needs {
  readonly products: Readonly<Record<string, Partial<ProductDraft>>>
  readonly currency: string
  readonly number: string | undefined
}

function requestOf(bytes: Buffer): BuyerRequest | undefined {
  try {
    const guarded = guard(blankDoctype(bytes).bytes, undefined, namespacedLimits)
    const root = readElements(guarded)
    if (isCxml(root)) return readCxml(root, guarded.source).request
    return isUbl(root) ? readUbl(root, guarded.source).request : undefined
  } catch {
    return undefined
  }
}

function needsOf(bytes: Buffer): Needs {
  const request = requestOf(bytes)
  const order = request && 'order' in request ? request.order : undefined
  const entries = (order?.items ?? []).map(productOf).filter((entry) => entry !== undefined)
  return {
    products: Object.fromEntries(entries.toReversed()),
    currency: order?.currency?.text ?? 'EUR',
    number: request && 'number' in request ? request.number.text : order?.orderNumber?.text
  }
}

/** A product that satisfies a line, if a product can have the line's id. */
function productOf({ sellerId, gtin, unit, price }: ItemDraft): [string, Partial<ProductDraft>] | undefined {
  const hasId = sellerId !== undefined && isProductId(sellerId.text)
  if (!hasId && !(gtin && isGtin(gtin.text))) return undefined
  const units = unit ? anyUnitOf(unit.text, cxmlPieces) : []
  const amount = Number(price?.amount.text ?? 1) / Number(price?.base?.text ?? 1)
  return [
    hasId ? sellerId.text : `G-${gtin?.text}`,
    {
      unit: unit && /^[A-Z0-9]{1,3}$/.test(unit.text) ? (units.length === 2 ? (units[1] ?? 'C62') : unit.text) : 'C62',
      price: decimal(String(Number(amount.toFixed(4)))),
      onHand: decimal('1000000'),
      ...(!hasId && gtin ? { gtin: gtin.text } : {})
    }
  ]
}

async function shopFor(t: Test, { bytes, expect }: Sample): Promise<{ shop: Shop; needs: Needs }> {
  const needs = needsOf(bytes)
  // One of them has a GTIN beside its free text.
  const products = expect === 'refuse:free-text' ? {} : needs.products
  const shop = await build(t, { products, settings: { TEST_ORDERS: 'place', CURRENCY: needs.currency } })
  return { shop, needs }
}

/** The shop's answer to a document: `ok`, or the codes of HTTP or cXML that refuse it. */
function outcomeOf({ statusCode, body }: { statusCode: number; body: string }): string {
  const cxml = /<Status code="(\d+)"/.exec(body)?.[1]
  if (cxml !== undefined) return cxml === '200' ? 'ok' : `cxml ${cxml}`
  if (statusCode >= 300) return `http ${statusCode}`
  return /<cbc:OrderResponseCode[^>]*>(AP|AB)</.test(body) || body.includes('<ProfileResponse') ? 'ok' : 'other'
}

/** Words of the reason that the index gives for a refusal. */
const reasons: Readonly<Record<string, RegExp>> = {
  'free-text': /free text|no product with the GTIN/,
  allowance: /llowance|AdditionalDeduction/,
  'two-currencies': /currenc/,
  'unknown-product': /no product/,
  'blanket-item': /BlanketItemDetail|lanket/,
  'item-hierarchy': /parentLineNumber|set of other lines/,
  'schedule-release': /ReleaseInfo/,
  price: /costs/,
  xsd: /./,
  xml: /well-formed/
}

async function check(t: Test, sample: Sample): Promise<void> {
  const { bytes, expect, name } = sample
  const { shop, needs } = await shopFor(t, sample)
  const key = await shop.key('buyer', 'order')
  const post = (payload: Buffer) => shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...key }, payload })
  if ((expect === 'change' || expect === 'cancel') && needs.number !== undefined) {
    const first = `<purchase-order><order-number>${needs.number}</order-number><item><product-id>BASE</product-id><quantity>1</quantity></item></purchase-order>`
    await shop.store.putProduct('BASE', { name: 'Base', price: decimal('1'), unit: 'C62', categories: [], images: [], backorder: true }, {})
    t.equal((await post(Buffer.from(first))).statusCode, 201)
  }
  const text = bytes.toString('utf8').replace(/(<SharedSecret>)[^<]*/g, '$1')
  const answer = await post(Buffer.from(text))
  if (expect.startsWith('refuse:')) {
    t.not(outcomeOf(answer), 'ok', `${name}: ${answer.body}`)
    t.match(answer.body, reasons[expect.slice('refuse:'.length)], `${name} says why`)
    t.equal((await shop.store.orders({ limit: 5 })).items.length, 0, 'nothing is stored')
    return
  }
  if (expect === 'change') {
    t.notMatch(outcomeOf(answer), /http [45]0[^9]/, `${name}: ${answer.body}`)
    return
  }
  t.equal(outcomeOf(answer), 'ok', `${name} (${expect}): ${answer.body}`)
}

const all = samples()
t.test('a document that a buyer really sent has the outcome that is right for it', async (t) => {
  if (!all) {
    t.pass('', { skip: 'the documents are not here' })
    return
  }
  for (const sample of all.filter(({ expect }) => expect !== 'model'))
    await t.test(`${sample.expect} ${sample.name}`, (t) => check(t, sample))
})
