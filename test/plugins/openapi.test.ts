import AjvCompiler from '@fastify/ajv-compiler'
import fc from 'fast-check'
import t from 'tap'
import { makeDocumentSchemas } from '../../openapi/components.ts'
import { readJson } from '../../schemas/json.ts'
import { readJsonText } from '../../schemas/json-text.ts'
import { ecmaPattern } from '../../schemas/patterns.ts'
import { productXsd } from '../../schemas/product.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import type { SimpleType, Xsd } from '../../schemas/vocabulary.ts'
import { writeXml } from '../../schemas/xml.ts'
import { makeXmlGate } from '../../xml/gate.ts'

/** Whether the XSD gate accepts a JSON document, which takes the way of a request's document. */
function accepts(xsd: Xsd, root: string, value: unknown): boolean {
  const gate = makeXmlGate()
  const type = xsd.vocabulary.get(root)
  if (!type) throw new Error(root)
  const { root: element, faults } = readJson(readJsonText(JSON.stringify(value)).value, type)
  if (faults.length > 0) return false
  return gate.validate(gate.parse(Buffer.from(writeXml(element))), xsd, [root]).length === 0
}

/** The JSON Schema of a document on its way in. */
function described(root: string) {
  const documents = makeDocumentSchemas('', {})
  const ref = documents.ref(root, 'in')
  const components = JSON.parse(JSON.stringify({ schemas: documents.schemas }).replaceAll('"#/', '"api#/'))
  const compile = AjvCompiler()(
    { api: { $id: 'api', components } },
    { customOptions: { strict: false, coerceTypes: false, useDefaults: false } }
  )
  return compile({ schema: { $ref: `api${ref['$ref']}` } } as Parameters<typeof compile>[0])
}

t.test('an XSD pattern becomes the ECMA-262 expression for the same values (XSD 1.0 part 2, appendix F)', async (t) => {
  const cases: readonly (readonly [xsd: string, ecma: string])[] = [
    ['[A-Z]{3}', '^(?:[A-Z]{3})$'],
    ['a|b', '^(?:a|b)$'],
    ['^$', '^(?:\\^\\$)$'],
    ['a.b', '^(?:a[^\\n\\r]b)$'],
    ['[.^$]', '^(?:[.^$])$'],
    ['[^@\\s]+@\\S*', '^(?:[^@ \\t\\n\\r]+@[^ \\t\\n\\r]*)$'],
    ['\\d[\\d.]\\-[a\\-]', '^(?:\\p{Nd}[\\p{Nd}.]-[a\\-])$'],
    ['\\w\\.\\[x\\]', '^(?:[^\\p{P}\\p{Z}\\p{C}]\\.\\[x\\])$']
  ]
  for (const [xsd, ecma] of cases) {
    t.equal(ecmaPattern(xsd), ecma)
    t.ok(new RegExp(ecma, 'u'), ecma)
  }
  for (const pattern of ['[a-z-[aeiou]]', '\\p{IsGreek}', '\\i\\c*', '[\\w]']) t.throws(() => ecmaPattern(pattern), pattern)
})

t.test('every pattern of the schemas is described', async (t) => {
  const patterns = new Set<string>()
  const collect = (type: SimpleType | undefined) => {
    for (const pattern of type?.patterns ?? []) patterns.add(pattern)
  }
  const visit = (type: Parameters<typeof readJson>[1]): void => {
    collect(type.text)
    for (const { type: own } of type.attributes) collect(own)
    type.children.forEach(visit)
  }
  for (const xsd of [orderXsd, productXsd]) xsd.vocabulary.forEach(visit)
  t.ok(patterns.size > 8)
  for (const pattern of patterns) t.ok(new RegExp(ecmaPattern(pattern), 'u'), pattern)
})

/** Nearly always valid, so that a document of many parts often is. */
function mostly<T>(valid: T, ...others: readonly T[]) {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(valid) }, { weight: 1, arbitrary: fc.constantFrom(...others) })
}

const optional: { requiredKeys: []; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true }
const quantity = fc.oneof(
  mostly('3', '0', '0.0', '0.5', '1.0000', '00', '', '1e3', '-1', '1234567890'),
  mostly<number | string | boolean>(3, 0.5, 999999999, 1000000000, 0, -1, true),
  fc.record({ value: mostly('3', 'x', '0'), unit: mostly('C62', 'c62') })
)
const item = fc.oneof(
  fc.record(
    {
      productId: mostly('ABC-1', '.', 'a b', 'x'.repeat(65)),
      quantity,
      unitPrice: mostly<string | number>('9.99', '9.99999', 9.99, 0, -1, 1e12),
      note: fc.array(mostly('', 'n'.repeat(4001)), { maxLength: 2 })
    },
    { requiredKeys: ['productId', 'quantity'], noNullPrototype: true }
  ),
  fc.record({ gtin: mostly('40123455', '1'), quantity }),
  fc.record({ gtin: fc.constant('40123455'), productId: fc.constant('ABC-1'), quantity }, optional)
)
const address = fc.record({ street: mostly('S', 's'.repeat(257)), country: mostly('DE', 'DEU') }, optional)
const purchaseOrder = fc.record(
  {
    orderNumber: mostly('1', '', 'n'.repeat(64), 'n'.repeat(65), '😀'.repeat(64)),
    currency: mostly('EUR', 'eur'),
    issueDate: mostly('2026-11-20', '20.11.2026'),
    buyer: fc.record({ email: mostly('a@b', 'a b@c', 'a@b@c'), address }, optional),
    extension: fc.array(fc.record({ name: mostly('a', ''), value: fc.constantFrom('', 'v') }), { maxLength: 2 }),
    item: fc.array(item, { minLength: 1, maxLength: 2 })
  },
  { requiredKeys: ['item'], noNullPrototype: true }
)

t.test('the JSON Schema of an order and the XSD accept the same documents', async (t) => {
  const accept = described('purchase-order')
  const counts = { yes: 0, no: 0 }
  fc.assert(
    fc.property(purchaseOrder, (order) => {
      const both = [accept(order), accepts(orderXsd, 'purchase-order', order)]
      counts[both[0] ? 'yes' : 'no'] += 1
      return both[0] === both[1]
    }),
    { numRuns: 400, seed: 7 }
  )
  t.ok(counts.no > 50 && counts.yes > 50, JSON.stringify(counts))
  const valid = { item: [{ productId: 'ABC-1', quantity: '3' }] }
  t.ok(accept(valid) && accepts(orderXsd, 'purchase-order', valid))
  const notes = (count: number) => ({ ...valid, note: Array.from({ length: count }, () => 'n') })
  for (const count of [100, 101]) t.equal(accept(notes(count)), accepts(orderXsd, 'purchase-order', notes(count)), `${count} notes`)
})

t.test('the JSON Schema of a product and the XSD accept the same documents', async (t) => {
  const accept = described('product')
  const product = fc.record(
    {
      id: fc.constantFrom('ABC-1', '..', 'a/b'),
      name: fc.constantFrom('N', '', 'n'.repeat(257)),
      price: fc.oneof(
        fc.constantFrom('1', '1.00001', 'free', 1, 9.99, -1),
        fc.record({ value: fc.constant('1'), currency: fc.constantFrom('EUR', 'E') }, { requiredKeys: ['value'] })
      ),
      unit: fc.constantFrom('KGM', 'kilo'),
      category: fc.array(fc.constantFrom('C', ''), { maxLength: 2 }),
      image: fc.array(fc.record({ href: fc.constantFrom('https://a/b', '/b', 'http://a/b', '/a b') }), { maxLength: 2 }),
      backorder: fc.constantFrom('allowed', 'none', 'maybe'),
      onHand: fc.constantFrom('5', '-5', '5.0001', 5, -5, -1e12)
    },
    { requiredKeys: ['name', 'price'], noNullPrototype: true }
  )
  const counts = { yes: 0, no: 0 }
  fc.assert(
    fc.property(product, (one) => {
      const isAccepted = accept(one)
      counts[isAccepted ? 'yes' : 'no'] += 1
      return isAccepted === accepts(productXsd, 'product', one)
    }),
    { numRuns: 400, seed: 7 }
  )
  t.ok(counts.yes > 0 && counts.no > 0, JSON.stringify(counts))
})
