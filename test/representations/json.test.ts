import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { guest } from '../../domain/caller.ts'
import { decimal } from '../../domain/money.ts'
import type { Order } from '../../domain/order.ts'
import type { Product } from '../../domain/product.ts'
import { orderElement } from '../../representations/order.ts'
import { productElement } from '../../representations/product.ts'
import type { Element } from '../../schemas/element.ts'
import { readJson, toJson } from '../../schemas/json.ts'
import { productXsd } from '../../schemas/product.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import type { ElementType } from '../../schemas/vocabulary.ts'
import { readXml, writeXml } from '../../schemas/xml.ts'
import { xmlText } from '../schemas/arbitrary-xml.ts'

function typeOf(vocabulary: ReadonlyMap<string, ElementType>, name: string): ElementType {
  const type = vocabulary.get(name)
  if (!type) throw new Error(name)
  return type
}

/** An element without what only says where it came from, and without the difference between no text and empty text. */
function bare({ name, attributes, text, children }: Element): Element {
  const own = attributes && Object.keys(attributes).length > 0 ? { attributes } : {}
  return children && children.length > 0 ? { name, ...own, children: children.map(bare) } : { name, ...own, text: text ?? '' }
}

const product: Product = {
  id: 'ABC-1',
  version: 3,
  name: 'Bolt <M8> & nut',
  description: 'line one\nline two',
  price: decimal('9.9900'),
  currency: 'EUR',
  unit: 'C62',
  gtin: '4006381333931',
  categories: ['fasteners'],
  images: ['https://shop.example/a.png'],
  backorder: false,
  availability: 'in-stock',
  modifiedAt: Date.UTC(2026, 10, 20, 15)
}

const order: Order = {
  id: '9d1f',
  version: 1,
  status: 'accepted',
  orderNumber: 'PO-1',
  currency: 'EUR',
  buyer: { name: 'A & B', address: { city: 'Köln', country: 'DE' } },
  notes: ['one', ''],
  extensions: [{ name: 'cost-centre', value: '4711' }],
  items: [
    {
      line: 1,
      productId: 'ABC-1',
      name: 'Bolt',
      quantity: decimal('3'),
      unit: 'C62',
      unitPrice: decimal('9.99'),
      lineTotal: decimal('29.97'),
      notes: []
    }
  ],
  total: decimal('29.97'),
  placedAt: Date.UTC(2026, 10, 20, 15),
  modifiedAt: Date.UTC(2026, 10, 20, 15)
}

t.test('the JSON of a product mirrors its XML name for name', async (t) => {
  const json = toJson(productElement(product, { base: '' }), typeOf(productXsd.vocabulary, 'product'))
  t.match(json, {
    id: 'ABC-1',
    version: '3',
    name: 'Bolt <M8> & nut',
    price: { value: '9.9900', currency: 'EUR' },
    category: ['fasteners'],
    image: [{ href: 'https://shop.example/a.png' }],
    modifiedAt: '2026-11-20T15:00:00Z',
    link: [{ rel: 'self', href: '/product/ABC-1' }]
  })
})

t.test('in JSON decimals are strings, repeatable elements arrays also when there is none or one, names in camel case', async (t) => {
  const json = toJson(orderElement(order, { base: '', caller: guest }), typeOf(orderXsd.vocabulary, 'order'))
  t.match(json, {
    orderNumber: 'PO-1',
    placedAt: '2026-11-20T15:00:00Z',
    note: ['one', ''],
    extension: [{ name: 'cost-centre', value: '4711' }],
    item: [
      {
        line: '1',
        productId: { value: 'ABC-1', href: '/product/ABC-1' },
        quantity: { value: '3', unit: 'C62' },
        unitPrice: '9.99',
        lineTotal: '29.97'
      }
    ],
    total: { value: '29.97', currency: 'EUR' }
  })
  t.same(Object(json).item[0].note, [])
})

t.test('a product and an order are the same after JSON, and after XML', async (t) => {
  const cases: readonly (readonly [Element, ElementType])[] = [
    [productElement(product, { base: '/shop' }), typeOf(productXsd.vocabulary, 'product')],
    [orderElement(order, { base: '', caller: guest }), typeOf(orderXsd.vocabulary, 'order')]
  ]
  for (const [element, type] of cases) {
    const { root, faults } = readJson(JSON.parse(JSON.stringify(toJson(element, type))), type)
    t.same(faults, [])
    t.same(bare(root), bare(element))
    t.same(bare(readXml(writeXml(element))), bare(element))
  }
})

/** Any element that its type allows. Its values are any texts. */
function arbitraryOf(type: ElementType): fc.Arbitrary<Element> {
  const given = type.attributes.map(({ name }) =>
    fc.option(xmlText, { nil: undefined }).map((value) => (value === undefined ? [] : [[name, value]]))
  )
  const attributes = fc.tuple(...given).map((found): Record<string, string> => Object.fromEntries(found.flat()))
  if (type.text) return fc.tuple(attributes, xmlText).map(([own, text]) => ({ name: type.name, attributes: own, text }))
  const children = fc.tuple(...type.children.map((child) => fc.array(arbitraryOf(child), { maxLength: child.repeatable ? 2 : 1 })))
  return fc.tuple(attributes, children).map(([own, found]) => ({ name: type.name, attributes: own, children: found.flat() }))
}

t.test('any text survives XML to JSON and back', async (t) => {
  for (const type of [typeOf(orderXsd.vocabulary, 'purchase-order'), typeOf(productXsd.vocabulary, 'product')]) {
    const property = fc.property(arbitraryOf(type), (element) => {
      const { root, faults } = readJson(JSON.parse(JSON.stringify(toJson(readXml(writeXml(element)), type))), type)
      assert.deepEqual(faults, [])
      assert.deepEqual(bare(root), bare(element))
    })
    t.doesNotThrow(() => fc.assert(property, { numRuns: 100 }))
  }
})
