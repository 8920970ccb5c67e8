import fc from 'fast-check'
import type { Element } from '../../schemas/element.ts'
import { writeElement } from '../../schemas/xml.ts'
import { mutate, mutation } from './arbitrary-xml.ts'

const names = [
  'purchase-order',
  'order-number',
  'currency',
  'buyer',
  'name',
  'note',
  'extension',
  'item',
  'product-id',
  'gtin',
  'quantity',
  'unit-price',
  'unknown'
]
const shell = {
  name: fc.constantFrom(...names),
  attributes: fc.dictionary(fc.constantFrom('name', 'unit', 'a'), fc.constantFrom('', 'C62', 'x y'), { maxKeys: 2, noNullPrototype: true })
}
/** An element that may or may not be allowed in an order. */
export const element = fc.letrec<{ element: Element }>((tie) => ({
  element: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ ...shell, text: fc.constantFrom('', '1', 'ABC-1', ' a\n', '4006381333931') }),
    fc.record({ ...shell, children: fc.array(tie('element'), { minLength: 1, maxLength: 4 }) })
  )
})).element
/** The smallest item that is valid. */
export const item: Element = {
  name: 'item',
  children: [
    { name: 'product-id', text: 'A' },
    { name: 'quantity', text: '1' }
  ]
}

const namespaces: fc.Arbitrary<Readonly<Record<string, string>>> = fc.constantFrom(
  {},
  {},
  { xmlns: '' },
  { 'xmlns:x': 'urn:x' },
  { 'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance', 'xsi:noNamespaceSchemaLocation': 'http://127.0.0.1:9/a.xsd' }
)
const strangeNamespaces: fc.Arbitrary<Readonly<Record<string, string>>> = fc.constantFrom(
  { xmlns: 'urn:x' },
  { 'xmlns:x': '' },
  { 'x:a': '1' },
  { 'xml:id': 'a' },
  { 'xml:space': 'preserve' }
)
const note = fc.constantFrom('', 'a', ' é\n', '&<>"', '\u{1f600}').map((text): Element => ({ name: 'note', text }))

const declaration = fc.constantFrom(
  '',
  '<?xml version="1.0"?>',
  '<?xml version="1.0" encoding="utf-8"?>\r\n',
  "<?xml\tversion='1.0' standalone='yes' ?>"
)
const outside = fc.constantFrom('', '', '\n', '\r\n \t', '<!-- > & -->', "<?pi don't > ?>", '<!--\n--><?x?>\n')

const written = (root: fc.Arbitrary<Element>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('', '\ufeff'), declaration, outside, root, fc.constantFrom('\n', '\r\n', '\r', ''), outside)
    .map(([mark, start, before, tree, end, after]) => mark + start + before + writeElement(tree).replaceAll('\n', end) + after)

const root = (attributes: typeof namespaces, children: fc.Arbitrary<readonly Element[]>): fc.Arbitrary<Element> =>
  fc.record({ name: fc.constant('purchase-order'), attributes, children })

/** An order that is valid, however it is written. */
export const validOrder: fc.Arbitrary<string> = written(
  root(
    namespaces,
    fc
      .tuple(fc.array(note, { maxLength: 2 }), fc.integer({ min: 1, max: 4 }))
      .map(([notes, items]) => [...notes, ...Array.from({ length: items }, () => item)])
  )
)

/** A document that resembles an order and is mostly invalid. */
export const strangeOrder: fc.Arbitrary<string> = fc.oneof(
  written(
    root(
      fc.oneof(namespaces, strangeNamespaces),
      fc.array(element, { maxLength: 4 }).map((children) => [...children, item])
    )
  ),
  fc.tuple(validOrder, mutation).map(([xml, change]) => mutate(xml, change))
)
