import fc from 'fast-check'
import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { availabilityOf, isGtin, isImageUri, isProductId } from '../../domain/product.ts'

t.test('a GTIN has a right check digit (GS1 General Specifications 7.9)', async (t) => {
  for (const gtin of ['4006381333931', '96385074', '036000291452', '10614141000415', '00000000']) t.ok(isGtin(gtin), gtin)
  for (const gtin of ['4006381333930', '96385073', '123', '', '40063813339311', 'abcdefgh', '4006381333931 ', '٤٠٠٦٣٨١٣٣٣٩٣١'])
    t.notOk(isGtin(gtin), gtin)
})

t.test('of ten last digits exactly one is right, and one wrong digit is always found', async (t) => {
  const digits = fc.integer({ min: 0, max: 9 })
  const property = fc.property(
    fc.constantFrom(7, 11, 12, 13),
    fc.infiniteStream(digits),
    fc.nat(),
    digits,
    (length, stream, where, other) => {
      const start = [...stream.take(length)].join('')
      const right = Array.from({ length: 10 }, (_, last) => `${start}${last}`).filter(isGtin)
      const [gtin = ''] = right
      const at = where % gtin.length
      const changed = gtin.slice(0, at) + other + gtin.slice(at + 1)
      return right.length === 1 && (changed === gtin || !isGtin(changed))
    }
  )
  t.doesNotThrow(() => fc.assert(property))
})

t.test('a product id is 1 to 64 unreserved characters, but no dot segment (RFC 3986 3.3)', async (t) => {
  for (const id of ['A', 'a.b_c~d-1', '...', '.a', 'x'.repeat(64)]) t.ok(isProductId(id), id)
  for (const id of ['', '.', '..', 'a/b', 'a b', 'é', 'x'.repeat(65), 'a\n', '%41']) t.notOk(isProductId(id), JSON.stringify(id))
})

t.test('availability follows stock and backorder', async (t) => {
  t.equal(availabilityOf(decimal('0.001'), false), 'in-stock')
  t.equal(availabilityOf(decimal('0.000'), false), 'out-of-stock')
  t.equal(availabilityOf(decimal('0'), true), 'backorder')
  t.equal(availabilityOf(decimal('-3'), true), 'backorder')
})

t.test('an image is an https URL or a path of this host, also as a browser reads it', async (t) => {
  for (const href of ['https://e.org/1.jpg', 'https://e.org', '/', '/a', '/a//b', '/ä?x=1#y']) t.ok(isImageUri(href), href)
  const others = [
    '//e.org/1.jpg',
    '///e.org',
    '/\\e.org',
    '\\\\e.org',
    'http://e.org',
    'https:e.org',
    'https:///e.org',
    'https://',
    'a.jpg',
    ''
  ]
  for (const href of [...others, 'javascript:alert(1)', 'data:image/png;base64,AA', ' /a', '/a b', 'HTTPS://e.org', 'x https://e.org']) {
    t.notOk(isImageUri(href), href)
  }
  // A URI that passes leads to this host or to https.
  const base = new URL('https://shop.example/product/A')
  const property = fc.property(fc.array(fc.constantFrom('/', '\\', 'a', '.', ':', '@', '?', '#', 'https:')), (parts) => {
    const text = parts.join('')
    if (!isImageUri(text) || !URL.canParse(text, base.href)) return true
    const url = new URL(text, base)
    return url.protocol === 'https:' && (text.startsWith('https://') || url.host === base.host)
  })
  t.doesNotThrow(() => fc.assert(property))
})
