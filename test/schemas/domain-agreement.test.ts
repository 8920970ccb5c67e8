/** The lists, patterns and limits that stand both in an XSD and in the code are the same. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { readConfig } from '../../config.ts'
import { mostCustomerCharacters } from '../../domain/caller.ts'
import { eventTypes } from '../../domain/event.ts'
import { lineStatuses } from '../../domain/line-answers.ts'
import { add, decimal } from '../../domain/money.ts'
import { mostTexts, orderStatuses } from '../../domain/order.ts'
import { mostOnHand } from '../../domain/placing.ts'
import { availabilities, isGtin, isProductId } from '../../domain/product.ts'
import { quantityRule } from '../../domain/quantities.ts'
import { webhookMediaTypes, webhookStatuses } from '../../domain/webhook.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import type { ElementType } from '../../schemas/vocabulary.ts'
import { toThousandths } from '../../stores/sqlite/rows.ts'

const read = (xsd: string) => readFileSync(new URL(`../../schemas/${xsd}.xsd`, import.meta.url), 'utf8')

/** The values of a facet of a simple type. */
function facets(xsd: string, type: string, facet: 'enumeration' | 'pattern'): readonly string[] {
  const [, content = ''] = read(xsd).match(new RegExp(`<xs:simpleType name="${type}">([\\s\\S]*?)</xs:simpleType>`)) ?? []
  return [...content.matchAll(new RegExp(`<xs:${facet} value="([^"]*)"`, 'g'))].map(([, value = '']) => value)
}

/** Whether a text matches the one pattern of a simple type. */
function matches(xsd: string, type: string, text: string): boolean {
  const [pattern, ...others] = facets(xsd, type, 'pattern')
  if (pattern === undefined || others.length > 0) throw new Error(`${type} of ${xsd}.xsd has not one pattern`)
  return new RegExp(`^(?:${pattern})$`).test(text)
}

t.test('the lists of values', async (t) => {
  for (const [xsd, type, values] of [
    ['order-status', 'status', orderStatuses],
    ['purchase-order', 'status', orderStatuses],
    ['purchase-order', 'event-type', eventTypes],
    ['webhook', 'event-type', eventTypes],
    ['purchase-order', 'line-status', lineStatuses],
    ['product', 'availability', availabilities],
    ['webhook', 'media-type', webhookMediaTypes],
    ['webhook', 'status', webhookStatuses]
  ] as const) {
    t.same(facets(xsd, type, 'enumeration'), values, `${type} of ${xsd}.xsd`)
  }
})

t.test('the name of a customer is as long as an order can show it', async (t) => {
  const namesIn = ({ name, text, children }: ElementType): readonly (number | undefined)[] =>
    name === 'customer' ? [text?.maxLength] : children.flatMap(namesIn)
  const lengths = [...orderXsd.vocabulary.values()].flatMap(namesIn)
  t.ok(lengths.length > 0)
  t.same([...new Set(lengths)], [mostCustomerCharacters])
})

t.test('the number of notes and of extensions', async (t) => {
  const limits = [...read('purchase-order').matchAll(/<xs:element name="(?:note|extension)"[^>]*maxOccurs="(\w+)"/g)].map(
    ([, most]) => most
  )
  t.same([...new Set(limits)], [String(mostTexts)])
})

t.test('the ids of products, and GTINs', async (t) => {
  const characters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
  const ids = [
    ...characters,
    ...['', '..', '...', '.a', '..a', '.a.', 'A-1_b~c.d', 'a b'],
    ...[63, 64, 65].flatMap((n) => ['a'.repeat(n), '.'.repeat(n)])
  ]
  // Zeros have the check digit 0. Whether the check digit is right is no rule of the schema.
  const gtins = Array.from({ length: 20 }, (_, n) => '0'.repeat(n))
  for (const xsd of ['product', 'purchase-order']) {
    t.same(
      ids.filter((id) => matches(xsd, 'product-id', id)),
      ids.filter(isProductId),
      xsd
    )
    t.same(
      gtins.filter((gtin) => matches(xsd, 'gtin', gtin)),
      gtins.filter(isGtin),
      xsd
    )
  }
})

t.test('the most that is on hand', async (t) => {
  for (const xsd of ['product', 'stock']) {
    for (const sign of ['', '-']) {
      t.ok(matches(xsd, 'on-hand', `${sign}${mostOnHand}`), xsd)
      t.notOk(matches(xsd, 'on-hand', `${sign}${add(mostOnHand, decimal('0.001'))}`), xsd)
    }
  }
})

t.test('the smallest part of a quantity', async (t) => {
  const { minimum: smallest, step } = quantityRule({ unit: 'KGM' })
  const smaller = decimal(`${smallest}1`)
  t.equal(step, smallest)
  for (const [xsd, type] of [
    ['product', 'quantity'],
    ['product', 'on-hand'],
    ['purchase-order', 'quantity'],
    ['purchase-order', 'quantity-or-none'],
    ['shipment', 'quantity'],
    ['stock', 'on-hand']
  ] as const) {
    t.same(
      [smallest, smaller].map((quantity) => matches(xsd, type, quantity)),
      [true, false],
      `${type} of ${xsd}.xsd`
    )
  }
  t.equal(toThousandths(smallest), 1n)
  t.throws(() => toThousandths(smaller), RangeError, 'SQLite stores no smaller part either')
})

t.test('currencies', async (t) => {
  for (const code of ['EUR', 'eur', 'EU', 'EURO', 'E1R']) {
    let isAccepted = true
    try {
      readConfig({ CURRENCY: code })
    } catch {
      isAccepted = false
    }
    for (const xsd of ['product', 'purchase-order']) t.equal(matches(xsd, 'currency', code), isAccepted, `${xsd}: ${code}`)
  }
})

t.test(
  'the patterns are also those that a form gives to browsers, which compile them with the flag v (HTML, the pattern attribute)',
  async (t) => {
    for (const file of readdirSync(new URL('../../schemas/', import.meta.url)).filter((name) => name.endsWith('.xsd'))) {
      for (const [, value = ''] of read(file.slice(0, -'.xsd'.length)).matchAll(/<xs:pattern value="([^"]*)"/g)) {
        const pattern = value.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
        t.doesNotThrow(() => new RegExp(`^(?:${pattern})$`, 'v'), `${pattern} of ${file}`)
      }
    }
  }
)

t.test('an address of a parcel’s tracking has the characters of a URI (RFC 3986)', async (t) => {
  for (const address of ["https://e.org/a-b._~:/?#[]@!$&amp;'()*+,;=%20", 'http://e.org']) t.ok(matches('shipment', 'web-address', address))
  for (const address of ['https://', 'ftp://e.org', 'https://e.org/ü', 'https://e.org/a b', 'https://e.org/"<']) {
    t.notOk(matches('shipment', 'web-address', address))
  }
})
